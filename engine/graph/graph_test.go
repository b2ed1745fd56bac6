package graph_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// of returns the graph of the policies at a path.
func of(t *testing.T, path string) *graph.Graph {
	t.Helper()
	return graph.Of(loaded(t, path))
}

// loaded returns the policies at a path.
func loaded(t *testing.T, path string) []*plan.Policy {
	t.Helper()
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	return b.Policies
}

// file writes a text into a file of its own.
func file(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "policies.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// written returns the graph of policies that are each given as name, what follows kind
// in for, and rules.
func written(t *testing.T, policies ...[3]string) *graph.Graph {
	t.Helper()
	var text strings.Builder
	for _, p := range policies {
		text.WriteString("---\napiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + p[0] + "}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap" + p[1] + "}\n  rules:\n" + p[2])
	}
	return of(t, file(t, text.String()))
}

func rule(when, value string) string {
	return "    - name: write\n      when: " + when + "\n      do: [{patch: {value: {data: " + value + "}}}]\n"
}

// ping and pong each write what the other decides by.
var (
	ping = rule(`object.?data[?"pong"].orValue("") == "1"`, `{ping: "1"}`)
	pong = rule(`object.?data[?"ping"].orValue("") == "1"`, `{pong: "1"}`)
)

func TestLoops(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policies [][3]string
		want     string
	}{
		"two policies":          {[][3]string{{"a", "", ping}, {"b", "", pong}}, "a (write) writes data.ping of ConfigMap, which wakes b (write) writes data.pong of ConfigMap, which wakes a"},
		"one policy":            {[][3]string{{"a", "", ping + strings.Replace(pong, "write", "pong", 1)}}, ""},
		"different namespaces":  {[][3]string{{"a", ", namespaces: [x]", ping}, {"b", ", namespaces: [y]", pong}}, ""},
		"different labels":      {[][3]string{{"a", ", selector: x=1", ping}, {"b", ", selector: x=2", pong}}, ""},
		"labels that may match": {[][3]string{{"a", ", selector: x=1", ping}, {"b", ", selector: y=2", pong}}, "a (write) writes data.ping of ConfigMap, which wakes b (write) writes data.pong of ConfigMap, which wakes a"},
		"other fields":          {[][3]string{{"a", "", ping}, {"b", "", rule(`object.?data[?"ping"].orValue("") == "1"`, `{other: "1"}`)}}, ""},
		"a condition it ends":   {[][3]string{{"a", "", rule(`object.immutable == true && object.?data[?"pong"].orValue("") == "1"`, `{ping: "1"}`)}, {"b", "", rule(`object.data.ping == "2"`, `{pong: "1"}`)}}, ""},
		"only in the shadow":    {[][3]string{{"a", "", ping}, {"b", "}\n  mode: Shadow\n  params: {x: 1", pong}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range written(t, tc.policies...).Loops {
				got = append(got, l.String())
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// pingPong are two policies, each of which makes a ConfigMap while that of the other one is
// there, or is not, and deletes it else.
func pingPong(t *testing.T, first, second string) *graph.Graph {
	t.Helper()
	one := func(policy, reads, when, name string) string {
		return "---\napiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + policy + "}\nspec:\n  for: {apiVersion: v1, kind: Namespace}\n" +
			"  inputs: [{name: other, apiVersion: v1, kind: ConfigMap, get: '{\"namespace\": key.name, \"name\": \"" + reads + "\"}'}]\n  rules:\n" +
			"    - {name: make, when: inputs.other " + when + " null, do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: \"${key.name}\"}}}]}\n" +
			"    - {name: end, when: '!(inputs.other " + when + " null)', do: [{delete: {of: {apiVersion: v1, kind: ConfigMap, name: " + name + ", namespace: \"${key.name}\"}}}]}\n"
	}
	return of(t, file(t, one("a", second, "==", first)+one("b", first, "!=", second)))
}

// TestExistence: what makes or deletes an object wakes who asks whether it is there, if they
// may be the same by their names, and is part of a circle.
func TestExistence(t *testing.T) {
	t.Parallel()
	g := pingPong(t, "one", "two")
	var got []string
	for _, e := range g.Edges {
		got = append(got, e.From.Policy+" "+e.From.Rule+" "+e.To.Policy+" "+strings.Join(e.Fields, ", "))
	}
	want := []string{"a end b (deletes it)", "a make b (creates it)", "b end a (deletes it)", "b make a (creates it)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	if len(g.Loops) != 2 {
		t.Errorf("loops %v", g.Loops)
	}
}

// TestJSON holds the form that programs read.
func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(written(t, [3]string{"a", "", ping}, [3]string{"b", "", pong}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/two.json", string(text)+"\n")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (UPDATE_GOLDEN=1 writes it) -want +got:\n%s", path, diff)
	}
}

// TestPictures holds the pictures of the shipped policies; docs/graph.md shows one.
func TestPictures(t *testing.T) {
	t.Parallel()
	g := of(t, "../../policies")
	golden(t, "testdata/shipped.dot", g.Dot())
	golden(t, "testdata/shipped.txt", g.Text())
	page, err := os.ReadFile("../../docs/graph.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), "```mermaid\n")
	_, after, ends := strings.Cut(rest, "```\n")
	if !found || !ends {
		t.Fatal("docs/graph.md has no picture")
	}
	golden(t, "../../docs/graph.md", before+"```mermaid\n"+g.Mermaid()+"```\n"+after)
}

// TestShippedPoliciesHaveNoLoops: a false alarm would be one that every user sees.
func TestShippedPoliciesHaveNoLoops(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../policies", "../../examples/choosing"} {
		if loops := of(t, path).Loops; len(loops) > 0 {
			t.Errorf("%s: %v", path, loops)
		}
	}
}
