package chart

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// selectors are compared in pairs, as selectors of two releases.
var selectors = []string{
	"", "a", "!a", "a=x", "a==x", "a!=x", "a in (x)", "a in (x, y)", "a in (y,z)", "a notin (x)", "a notin (x, y)", "a notin (x,y,z)",
	"b=x", "a=x,b", "b, a!=x", "!b,a in (x,y)", "a=x,b notin (y)", "a > 3",
}

// TestDisjointSelectors: two releases are only taken for disjoint if no labels match both
// selectors; if both name one key, also the other way round.
func TestDisjointSelectors(t *testing.T) {
	helpers, err := os.ReadFile(filepath.Join(chart, "templates", "_helpers.tpl"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":             "apiVersion: v2\nname: selectors\nversion: 0.1.0\n",
		"templates/_helpers.tpl": string(helpers),
		"templates/all.yaml": `kind: Result
disjoint:
{{- range $one := .Values.selectors }}{{ range $other := $.Values.selectors }}
  - {{ printf "%s|%s|%s" $one $other (include "edict.disjoint" (dict "one" $one "other" $other)) | quote }}
{{- end }}{{ end }}
`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	values, err := yaml.Marshal(map[string]any{"selectors": selectors})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "values.yaml")
	if err := os.WriteFile(file, values, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := helm(t, "template", "x", folder)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Disjoint []string }
	if err := yaml.Unmarshal([]byte(text), &got); err != nil || len(got.Disjoint) != len(selectors)*len(selectors) {
		t.Fatalf("%v: %s", err, text)
	}
	for _, line := range got.Disjoint {
		parts := strings.Split(line, "|")
		one, other, says := parts[0], parts[1], parts[2] == "true"
		if meet := meets(t, one, other); says && meet || !says && !meet && !strings.ContainsAny(one+other, "b>") {
			t.Errorf("%q and %q: disjoint: %v, some labels match both: %v", one, other, says, meet)
		}
	}
}

// meets reports whether some labels match two selectors.
func meets(t *testing.T, one, other string) bool {
	t.Helper()
	values := []string{"", "x", "y", "z", "w", "5"} // "" is no label
	for _, a := range values {
		for _, b := range values {
			set := labels.Set{}
			if a != "" {
				set["a"] = a
			}
			if b != "" {
				set["b"] = b
			}
			if matches(t, one, set) && matches(t, other, set) {
				return true
			}
		}
	}
	return false
}

func matches(t *testing.T, text string, set labels.Set) bool {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(set)
}

// TestWatchLabelSelector: the chart passes a selector to the process and refuses what is none;
// the name of the Lease is that of the release, whatever its selector.
func TestWatchLabelSelector(t *testing.T) {
	for _, selector := range append(selectors, "shard notin (a, b)", "example.com/shard=A_1.b", "a==", "a=x y", "a=(x)", "a in x", "a in ()", "a in (x", "!", "!a=x", "a,", ",a", "a=é", "-a", "a > x", "/a") {
		text, err := helm(t, "template", release, chart, "--set-string", "watchLabelSelector="+strings.ReplaceAll(selector, ",", `\,`))
		if _, wrong := labels.Parse(selector); (wrong == nil) != (err == nil) {
			t.Errorf("%q: helm says %v, the API %v", selector, err, wrong)
		}
		if err != nil {
			if !strings.Contains(err.Error()+text, "is not a label selector, such as shard=a") {
				t.Errorf("%q: %v", selector, err)
			}
			continue
		}
		want := "--watch-label-selector=" + selector
		if has := strings.Contains(text, strconv.Quote(want)); has != (selector != "") {
			t.Errorf("%q: %s is an argument: %v", selector, want, has)
		}
		if !strings.Contains(text, "--leader-elect-name="+release+"\n") || !strings.Contains(text, "resources: [leases], resourceNames: ["+release+"]") {
			t.Errorf("%q: the Lease is not that of the release", selector)
		}
	}
}
