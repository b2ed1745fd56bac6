package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// endpoints is a folder with a policy, its test and its allowances.
var endpoints = filepath.Join("testdata", "install", "endpoints")

// TestManifestsGolden: what is printed runs the policies, and is read again without a finding.
func TestManifestsGolden(t *testing.T) {
	t.Parallel()
	got := program(t, "manifests", endpoints)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%d: %s", got.code, got.stderr)
	}
	golden(t, "testdata/install/manifests.golden", got.stdout)
	file := write(t, t.TempDir(), "manifests.yaml", got.stdout)
	if got := program(t, "check", "--strict", file); got.code != 0 {
		t.Errorf("%d: %s", got.code, got.stdout)
	}
	if got := program(t, "test", file); !strings.HasSuffix(got.stdout, "2 passed, 0 failed\n") {
		t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// TestManifestsAsJSON: -o json prints the same objects as a List.
func TestManifestsAsJSON(t *testing.T) {
	t.Parallel()
	names := func(text string) (out []string) {
		for document := range strings.SplitSeq(text, "\n---\n") {
			var o struct {
				Kind     string
				Metadata struct{ Namespace, Name string }
			}
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				t.Fatal(err)
			}
			out = append(out, o.Kind+" "+o.Metadata.Namespace+"/"+o.Metadata.Name)
		}
		return out
	}
	args := []string{"manifests", endpoints, "--name", "other", "-n", "home"}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(program(t, append(args, "-o", "json")...).stdout), &list); err != nil {
		t.Fatal(err)
	}
	var items []string
	for _, item := range list.Items {
		items = append(items, names(string(item))...)
	}
	if diff := cmp.Diff(names(program(t, args...).stdout), items); diff != "" || len(items) == 0 || items[1] != "PolicySet home/other" {
		t.Errorf("-yaml +json:\n%s", diff)
	}
}

// TestManifestsOfSources: files, standard input, params and modes are taken; what has no one key is not.
func TestManifestsOfSources(t *testing.T) {
	t.Parallel()
	other := filepath.Join("testdata", "install", "other", "endpoints.yaml")
	text, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a file":              {[]string{other}, 0, "\n  name: endpoints\n"},
		"standard input":      {[]string{"-", "--name", "x"}, 0, "\n  policies.yaml: |\n    apiVersion: edict.dev/v1alpha1\n    kind: Policy\n    metadata: {name: other}\n"},
		"a param":             {[]string{other, "--param", "other.value=y"}, 0, "\n  params:\n    other:\n      value: \"y\"\n"},
		"a mode":              {[]string{other, "--mode", "Enforce"}, 0, "\n  mode: Enforce\n"},
		"a mode that is none": {[]string{other, "--mode", "Off"}, exitUsage, `invalid argument "Off" for "--mode" flag: it is Shadow, Enforce or Disabled`},
		"two files of a name": {[]string{endpoints, other}, exitFindings, "two files are called endpoints.yaml"},
		"no policy":           {[]string{"testdata/run/passes.yaml"}, exitFindings, "no policy found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errOut strings.Builder
			code := runEdict(t.Context(), append([]string{"manifests"}, tc.args...), strings.NewReader(string(text)), &out, &errOut)
			if code != tc.code || !strings.Contains(out.String()+errOut.String(), tc.want) {
				t.Errorf("%d: %s%s", code, out.String(), errOut.String())
			}
		})
	}
}
