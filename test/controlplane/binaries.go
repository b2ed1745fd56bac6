package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Binaries are the paths of the binaries of a control plane.
type Binaries struct {
	Etcd              string
	APIServer         string
	ControllerManager string
	Kubectl           string
}

// cacheVariable names the environment variable that moves the cache of built
// binaries, for example to a folder that a CI keeps between runs.
const cacheVariable = "EDICT_CONTROLPLANE_DIR"

// assetsVariable names the environment variable with the folder of binaries that setup-envtest
// prints.
const assetsVariable = "KUBEBUILDER_ASSETS"

// Build returns the binaries in the folder KUBEBUILDER_ASSETS, if that is set. Those that are
// not there it makes from Go modules, unless the cache has them already, and
// writes its progress to log. The first build takes some minutes; what the
// cache has costs a few file reads. Several processes may call it at once: one
// builds, the others wait.
//
// Binaries of another minor version of Kubernetes are an error.
func Build(ctx context.Context, log io.Writer) (*Binaries, error) {
	sources, err := findSources()
	if err != nil {
		return nil, err
	}
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	etcd := &module{
		source: filepath.Join(sources, "etcd"),
		binary: "etcd",
		title:  "etcd from Go modules (about half a minute the first time)",
	}
	kube := &module{
		source: filepath.Join(sources, "kube"),
		binary: "kube",
		names:  []string{"kube-apiserver", "kube-controller-manager", "kubectl"},
		title:  "kube-apiserver, kube-controller-manager and kubectl from Go modules (about 20 minutes of CPU time the first time)",
	}
	given, err := givenAssets(ctx, kube, os.Getenv(assetsVariable))
	if err != nil {
		return nil, err
	}
	find := func(m *module, name string) string {
		if err != nil || given[name] != "" {
			return given[name]
		}
		var folder string
		folder, err = m.ensure(ctx, cache, log)
		return filepath.Join(folder, name)
	}
	binaries := &Binaries{
		Etcd:              find(etcd, "etcd"),
		APIServer:         find(kube, "kube-apiserver"),
		ControllerManager: find(kube, "kube-controller-manager"),
		Kubectl:           find(kube, "kubectl"),
	}
	if err != nil {
		return nil, err
	}
	return binaries, nil
}

// givenAssets returns the paths of the binaries in a folder by their names, after it has
// compared their versions with that of the module. It returns nil if the folder is "".
func givenAssets(ctx context.Context, kube *module, folder string) (map[string]string, error) {
	if folder == "" {
		return nil, nil
	}
	want, err := kube.kubernetesMinor()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		out[name] = path
		if name == "etcd" { // has versions of its own
			continue
		}
		arguments := []string{"--version"}
		if name == "kubectl" {
			arguments = []string{"version", "--client"}
		}
		said, err := exec.CommandContext(ctx, path, arguments...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: asking %s for its version: %w", assetsVariable, path, err)
		}
		if got := minorOf(string(said)); got != want {
			return nil, fmt.Errorf("%s: %s is of Kubernetes %s; the tests need %s: take the binaries of that version, or unset the variable to build them", assetsVariable, path, got, want)
		}
	}
	if out["kube-apiserver"] == "" {
		return nil, fmt.Errorf("%s: there is no kube-apiserver in %s", assetsVariable, folder)
	}
	return out, nil
}

// Helm returns the path of a helm, built like the rest (see [Build]) when it is
// first asked for: only the tests of the chart need one.
func Helm(ctx context.Context, log io.Writer) (string, error) {
	sources, err := findSources()
	if err != nil {
		return "", err
	}
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	helm := &module{
		source: filepath.Join(sources, "helm"),
		binary: "helm",
		tool:   "helm.sh/helm/v3/cmd/helm",
		title:  "helm from Go modules (about a minute the first time)",
	}
	folder, err := helm.ensure(ctx, cache, log)
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "helm"), nil
}

// cacheFolder is outside the tree: a clean checkout does not build again.
func cacheFolder() (string, error) {
	if folder := os.Getenv(cacheVariable); folder != "" {
		return filepath.Abs(folder)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder (set %s to choose one): %w", cacheVariable, err)
	}
	return filepath.Join(cache, "edict", "controlplane"), nil
}

// findSources finds this package's folder in the checkout that the working
// directory is in. (A path from runtime.Caller would not survive -trimpath.)
func findSources() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		sources := filepath.Join(folder, "test", "controlplane")
		if _, err := os.Stat(filepath.Join(sources, "kube", "go.mod")); err == nil {
			return sources, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no folder test/controlplane in %s or above it", start)
		}
	}
}
