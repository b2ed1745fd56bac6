package chart

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

const (
	release   = "edict"
	namespace = "edict-system"
)

var (
	root  = filepath.Join("..", "..")
	chart = filepath.Join(root, "charts", "edict")
)

// helm runs helm and returns what it prints.
func helm(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	controlplane.Require(t)
	program.OpenFolders(t, chart) // helm reads it
	path, err := controlplane.Helm(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), path, arguments...)
	command.Env = helmEnvironment(t)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), errors.New(strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// helmEnvironment keeps a user's helm settings and cluster out of the tests.
func helmEnvironment(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	environment := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "HELM_") || strings.HasPrefix(variable, "KUBE")
	})
	return append(environment, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
}

// template renders the chart as helm does without a cluster.
func template(t *testing.T, arguments ...string) string {
	t.Helper()
	text, err := helm(t, append([]string{"template", release, chart, "--namespace", namespace}, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type object = unstructured.Unstructured

// objects decodes manifests, strictly: a key that stands twice is an error.
func objects(t *testing.T, text string) []*object {
	t.Helper()
	var list []*object
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		one := &object{}
		if err := yaml.UnmarshalStrict(document, &one.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(one.Object) > 0 {
			list = append(list, one)
		}
	}
}

// find returns the object of a kind and name, or nil.
func find(list []*object, kind, name string) *object {
	for _, one := range list {
		if one.GetKind() == kind && one.GetName() == name {
			return one
		}
	}
	return nil
}
