package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Binaries are the paths of what [Build] built.
type Binaries struct {
	Etcd              string
	APIServer         string
	ControllerManager string
	Kubectl           string
}

// cacheVariable names the environment variable that moves the cache of built
// binaries, for example to a folder that a CI keeps between runs.
const cacheVariable = "EDICT_CONTROLPLANE_DIR"

// Build makes the binaries from Go modules, unless the cache has them already,
// and writes its progress to log. The first build takes some minutes; what the
// cache has costs a few file reads. Several processes may call it at once: one
// builds, the others wait.
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
	etcdFolder, err := etcd.ensure(ctx, cache, log)
	if err != nil {
		return nil, err
	}
	kubeFolder, err := kube.ensure(ctx, cache, log)
	if err != nil {
		return nil, err
	}
	return &Binaries{
		Etcd:              filepath.Join(etcdFolder, "etcd"),
		APIServer:         filepath.Join(kubeFolder, "kube-apiserver"),
		ControllerManager: filepath.Join(kubeFolder, "kube-controller-manager"),
		Kubectl:           filepath.Join(kubeFolder, "kubectl"),
	}, nil
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
