package controlplane

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// module is a Go module of one main package, built into one binary.
type module struct {
	source string   // its folder
	binary string   // the binary's name
	names  []string // further names that the binary answers to
	tool   string   // the package of a dependency to build; its own main package if empty
	title  string   // what progress lines call it
}

// buildEnvironment shields the build from the settings of whoever runs the
// tests. Without cgo neither a C compiler nor its libraries matter.
var buildEnvironment = []string{"GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0"}

// ensure returns the folder that holds the built binary, and builds it first if
// it is not there yet.
func (m *module) ensure(ctx context.Context, cache string, log io.Writer) (string, error) {
	arguments, err := m.arguments()
	if err != nil {
		return "", err
	}
	hash, err := m.hash(arguments)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, m.binary+"-"+hash)
	if m.isBuilt(folder) {
		return folder, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(folder, "lock"), func(waited time.Duration) {
		fmt.Fprintf(log, "waiting for another process that builds %s ... %s\n", m.title, waited)
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	if m.isBuilt(folder) { // while this process waited
		return folder, nil
	}
	return folder, m.build(ctx, folder, arguments, log)
}

func (m *module) isBuilt(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, m.binary))
	return err == nil
}

// hash names what a binary is built from: another text, another cache folder.
func (m *module) hash(arguments []string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.GOOS, runtime.GOARCH, m.names, arguments, buildEnvironment)
	files := []string{"go.mod", "go.sum"}
	if m.tool == "" {
		files = append(files, "main.go")
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(m.source, name))
		if err != nil {
			return "", fmt.Errorf("hashing the sources of %s: %w", m.binary, err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6]), nil
}

var (
	kubernetesVersion = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)$`)
	helmClientVersion = regexp.MustCompile(`(?ms)^tool helm\.sh/helm.*?^\s*k8s\.io/client-go v\d+\.(\d+)\.`)
)

// arguments of go build, without the output's name.
func (m *module) arguments() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(m.source, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("reading the module %s: %w", m.binary, err)
	}
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w" + linkedVersions(string(text))}, nil
}

// kubernetesMinor returns the version of Kubernetes that the module is built from, without
// its patch.
func (m *module) kubernetesMinor() (string, error) {
	text, err := os.ReadFile(filepath.Join(m.source, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("reading the module %s: %w", m.binary, err)
	}
	return minorOf(string(kubernetesVersion.Find(text))), nil
}

// versionPattern finds the version in what a binary of Kubernetes prints.
var versionPattern = regexp.MustCompile(`v(\d+\.\d+)\.\d+`)

// minorOf returns a version without its patch, such as 1.36, or "unknown".
func minorOf(text string) string {
	if found := versionPattern.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return "unknown"
}

// linkedVersions are the versions that a release sets with the linker.
// Kubernetes has its own, and tools (helm among them) refuse a server without
// one; helm has that of the cluster that it renders for when it knows none.
func linkedVersions(gomod string) string {
	if version := kubernetesVersion.FindStringSubmatch(gomod); version != nil {
		const set = " -X k8s.io/component-base/version."
		return set + "gitVersion=" + version[1] + set + "gitMajor=" + version[2] + set + "gitMinor=" + version[3]
	}
	if version := helmClientVersion.FindStringSubmatch(gomod); version != nil {
		flags := ""
		for _, in := range []string{"chartutil", "lint/rules"} {
			set := " -X helm.sh/helm/v3/pkg/" + in + ".k8sVersion"
			flags += set + "Major=1" + set + "Minor=" + version[1]
		}
		return flags
	}
	return ""
}

// build compiles under a temporary name and renames when all is done: the
// binary's presence is what isBuilt goes by.
func (m *module) build(ctx context.Context, folder string, arguments []string, log io.Writer) error {
	for _, name := range m.names {
		err := os.Symlink(m.binary, filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("naming %s: %w", name, err)
		}
	}
	temporary := filepath.Join(folder, m.binary+".new")
	command := exec.Command("go", append(arguments, "-o", temporary, cmp.Or(m.tool, "."))...)
	command.Dir = m.source
	command.Env = append(os.Environ(), buildEnvironment...)
	if err := m.run(ctx, command, filepath.Join(folder, "build.log"), log); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(folder, m.binary))
}

// progressInterval is how often a waiting user hears something.
const progressInterval = 15 * time.Second

// run runs the build and tells log how long it has been going on.
func (m *module) run(ctx context.Context, command *exec.Cmd, logPath string, log io.Writer) error {
	start := time.Now()
	fmt.Fprintf(log, "building %s ...\n", m.title)
	child, err := startProcess(strings.Join(command.Args[:2], " "), logPath, command)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case <-child.ended:
			if child.failure != nil {
				return fmt.Errorf("building %s: %w\n%s", m.title, child.failure, child.tail())
			}
			fmt.Fprintf(log, "built %s in %s\n", m.binary, time.Since(start).Round(time.Second))
			return nil
		case <-ticker.C:
			fmt.Fprintf(log, "building %s ... %s\n", m.title, time.Since(start).Round(time.Second))
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("building %s: %w", m.title, context.Cause(ctx)), child.kill())
		}
	}
}
