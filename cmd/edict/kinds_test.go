package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKinds: the name of a document for several kinds is all of its policies, or is
// answered with their names.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: DaemonSet}]}\n  params: {n: a}\n" +
			"  rules: [{name: r, do: [{labels: {set: {a: \"${params.n}\"}}}]}]\n",
		"objects/o.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: x}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: d}]}}}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, objects := filepath.Join(dir, "p.yaml"), filepath.Join(dir, "objects")
	world := []string{"--policies", file, "--objects", objects}
	for name, tc := range map[string]struct {
		args []string
		code int
		want []string // in what is printed
	}{
		"check":            {[]string{"check", "--strict", file}, 0, []string{"2 policies in 1 file: 0 errors"}},
		"params":           {[]string{"params", "--policies", file, "--param", "p.n=b", "--param", "p-daemonset.n=c", "p"}, 0, []string{"p-daemonset   n      string  c", "p-deployment  n      string  b"}},
		"rbac":             {[]string{"rbac", file, "--policy", "p"}, 0, []string{"# p-daemonset", "# p-deployment"}},
		"rbac of one":      {[]string{"rbac", file, "--policy", "p-deployment"}, 0, []string{"# p-deployment"}},
		"explain":          {append([]string{"explain", "p", "x/d"}, world...), 1, []string{"p is a policy for each of several kinds: name one of p-daemonset, p-deployment"}},
		"explain of one":   {append([]string{"explain", "p-deployment", "x/d"}, world...), 0, []string{"Deployment x/d"}},
		"eval":             {append([]string{"eval", "1", "--policy", "p", "--key", "x/d"}, world...), 1, []string{"p is a policy for each of several kinds: name one of p-daemonset, p-deployment"}},
		"eval of one":      {append([]string{"eval", "object.kind", "--policy", "p-deployment", "--key", "x/d"}, world...), 0, []string{"Deployment"}},
		"a kind too many":  {[]string{"rbac", file, "--policy", "p-pod"}, 1, []string{`there is no policy "p-pod" here`}},
		"a part of a name": {[]string{"rbac", file, "--policy", "p-daemon"}, 1, []string{`there is no policy "p-daemon" here`}},
		"values for none":  {[]string{"params", "--policies", file, "--param", "p-pod.n=b"}, 1, []string{`the policy "p-pod", which does not exist`}},
		"plan":             {append([]string{"plan"}, world...), 2, []string{"by p-deployment"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := program(t, tc.args...)
			if got.code != tc.code {
				t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.stdout+got.stderr, want) {
					t.Errorf("%q is missing in\n%s%s", want, got.stdout, got.stderr)
				}
			}
		})
	}
}

// TestNameHint: commands that know names only suggest those of kinds.
func TestNameHint(t *testing.T) {
	t.Parallel()
	known := []string{"mark-node", "mark-pod", "other"}
	for name, want := range map[string]string{"mark": "there is mark-node, mark-pod", "othr": `did you mean "other"?`, "x": "the policies are mark-node, mark-pod, other"} {
		if got := nameHint(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
