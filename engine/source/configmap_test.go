package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
)

// policy is the text of a policy.
func policy(name, rest string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata:\n  name: " + name + "\nspec:\n" + rest +
		"  for: {apiVersion: v1, kind: Node}\n  params: {value: a}\n  rules:\n    - name: mark\n      do: [{labels: {set: {mark: \"${params.value}\"}}}]\n"
}

// testOf is the text of a test of some keys.
func testOf(keys ...string) string {
	return fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec: {policies: [%s], cases: []}\n", strings.Join(keys, ", "))
}

// at makes a ConfigMap.
func at(name string, data map[string]string) *ConfigMap {
	return &ConfigMap{Namespace: "ns", Name: name, Data: data}
}

func messages(list []document.Problem) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, string(p.Severity)+" "+p.Error())
	}
	return out
}

func TestReadingAConfigMap(t *testing.T) {
	t.Parallel()
	rego := "package p\nimport rego.v1\ndefault x := 1\n"
	for name, tc := range map[string]struct {
		data     map[string]string
		units    []string // ID, modules
		tests    []string
		problems []string
	}{
		"several files, tests and Rego": {
			data:  map[string]string{"a.yaml": policy("a", "") + "---\n" + policy("b", ""), "a.rego": rego, "a_more.rego": rego, "a_test.rego": rego, "c.yml": policy("c", ""), "a_test.yaml": "x"},
			units: []string{"a ns/m/a.rego ns/m/a_more.rego ns/m/a_test.rego", "b ns/m/a.rego ns/m/a_more.rego ns/m/a_test.rego", "c"}, tests: []string{"ns/m/a_test.yaml"}, problems: []string{},
		},
		"a test of a key that is not there": {
			data:  map[string]string{"a.yaml": policy("a", ""), "b.yml": policy("b", ""), "a_test.yaml": testOf("a.yaml", "b.yml", "c.yaml", ".") + "---\n" + testOf()},
			units: []string{"a", "b"}, tests: []string{"ns/m/a_test.yaml"},
			problems: []string{`error ns/m/a_test.yaml:4:34: the ConfigMap has no key "c.yaml" (keys with policies are a.yaml, b.yml; without spec.policies all of them are tested)`},
		},
		"what is not read": {
			data: map[string]string{"note.txt": "x", "lost.rego": rego},
			problems: []string{"warning ns/m/lost.rego: no policy uses this Rego (it belongs to the key with the same name that ends in .yaml)",
				"warning ns/m/note.txt: this key is not read: it ends neither in .yaml nor in .rego"},
		},
		"a broken document beside a good one": {
			data: map[string]string{"a.yaml": policy("a", "  nonsense: 1\n"), "b.yaml": policy("b", "")}, units: []string{"b"},
			problems: []string{`error ns/m/a.yaml:6:3: spec has no field "nonsense" (its fields are children, finalizer, for, inputs, limits, metrics, mode, params, rules, summary, variables)`},
		},
		"documents of other kinds": {
			data: map[string]string{"a.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec: {cases: []}\n---\napiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: t}\nspec: {allow: []}\n"},
			problems: []string{"error ns/m/a.yaml:1:1: a test stands among the policies (move it to a key that ends in _test.yaml)",
				"error ns/m/a.yaml:6:1: allowances in the text have no effect: a policy cannot widen what it may do (write them to spec.allow of the PolicySet)"},
		},
		"one name twice": {
			data: map[string]string{"a.yaml": policy("a", ""), "b.yaml": policy("a", ""), "c.yaml": policy("c", "")}, units: []string{"a", "c"},
			problems: []string{`error ns/m/b.yaml:4:9: the policy "a" is defined twice, first at ns/m/a.yaml:4:9`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Read(nil, at("m", tc.data))
			var units, tests []string
			for _, u := range got.Units {
				text := u.ID()
				for _, mod := range u.Modules {
					text += " " + mod.Name
				}
				units = append(units, text)
			}
			for _, f := range got.Tests {
				tests = append(tests, f.Path)
			}
			for _, d := range []string{cmp.Diff(tc.units, units), cmp.Diff(tc.tests, tests), cmp.Diff(tc.problems, messages(got.Problems))} {
				if d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			}
		})
	}
}

// TestDigest: the digest is that of all keys in byte order. It was computed with
// printf 'B.yaml 1\nxa.yaml 3\nä\nb.rego 0\n' | sha256sum.
func TestDigest(t *testing.T) {
	t.Parallel()
	const want = "sha256:3e5c6f78c68412a7c005e50be206b9522fab0c1d81ec8dcb30375449ec7dadbb"
	m := at("m", map[string]string{"b.rego": "", "a.yaml": "ä\n", "B.yaml": "x"})
	if got := m.Digest(); got != want || Revision(got) != want[len("sha256:"):][:8] {
		t.Errorf("%s, revision %s", got, Revision(got))
	}
	other := *m
	other.Name, other.Namespace, other.ResourceVersion, other.Manager, other.Binary = "n", "o", "7", "kubectl", []string{"c"}
	if other.Digest() != want {
		t.Error("it is not of the data alone")
	}
	if got := at("m", nil).Digest(); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("that of nothing is %s", got)
	}
	for _, data := range []map[string]string{{"a": "b 1\nc"}, {"a": "", "b": "c"}, {"a": "b", "c": ""}} {
		for _, more := range []map[string]string{{"a": "b1\nc"}, {"a b": "c"}} {
			if at("m", data).Digest() == at("m", more).Digest() {
				t.Errorf("%v and %v have one digest", data, more)
			}
		}
	}
	if Revision("") != "" || Revision("sha256:123") != "" {
		t.Error("there is a revision of no digest")
	}
}

// TestRevisions: that of the tests changes with them, and the units have that of the text.
func TestRevisions(t *testing.T) {
	t.Parallel()
	read := func(text, test string) *Contents {
		return Read(nil, at("m", map[string]string{"a.yaml": text, "a_test.yaml": test}))
	}
	first, tested, edited := read(policy("a", ""), "x"), read(policy("a", ""), "y"), read(policy("a", "  mode: Disabled\n"), "x")
	if first.TestsRevision() != edited.TestsRevision() || first.TestsRevision() == tested.TestsRevision() {
		t.Error("the revision of the tests is not theirs")
	}
	for _, c := range []*Contents{first, tested, edited} {
		if got := c.Units[0].TextRevision; got != Revision(c.Digest()) || got == "" {
			t.Errorf("the text is %s, and of the unit %s", Revision(c.Digest()), got)
		}
	}
}

// TestNewConfigMap: what is read of a ConfigMap of a cluster, with who wrote it last.
func TestNewConfigMap(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	before := metav1.NewTime(at.Add(-time.Hour))
	m := &corev1.ConfigMap{Data: map[string]string{"a.yaml": "x"}, BinaryData: map[string][]byte{"b": nil, "a": nil}}
	m.Namespace, m.Name, m.ResourceVersion = "ns", "m", "7"
	m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "flux", Time: &before}, {Manager: "kubectl", Time: &at}, {Manager: "helm", Time: &before}, {Manager: "nobody"}}
	want := &ConfigMap{Namespace: "ns", Name: "m", ResourceVersion: "7", Data: m.Data, Binary: []string{"a", "b"}, Manager: "kubectl", Edited: at.Time}
	if d := cmp.Diff(want, NewConfigMap(m)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestParamsInTheText: values of params.yaml, by policy.
func TestParamsInTheText(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string // problems, which are errors in the values of all policies
		a    string   // the value of a
	}{
		"values":               {"a: {value: x}\nb: {value: y}\n", []string{}, "x"},
		"nothing":              {"", []string{}, "a"},
		"only remarks":         {"# a: {value: x}\n", []string{}, "a"},
		"no mapping":           {"[1]", []string{"error ns/m/params.yaml:1:1: params must be a mapping by policy, not a list (policy-name: {param: value})"}, ""},
		"no mapping of values": {"a: 1\n", []string{"error ns/m/params.yaml:1:4: the params of a policy must be a mapping, not an integer (policy-name: {param: value})"}, ""},
		"no value":             {"a: {value: x}\nb:\n  value:\n", []string{`error ns/m/params.yaml:3:3: the param "value" has no value (remove the line to have the default)`}, ""},
		"broken YAML":          {"a: [", []string{"error ns/m/params.yaml:1:"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Read(nil, at("m", map[string]string{"a.yaml": policy("a", ""), "b.yaml": policy("b", ""), "params.yaml": tc.text}))
			got := messages(c.Problems)
			if len(got) != len(tc.want) || len(got) > 0 && !strings.HasPrefix(got[0], tc.want[0]) {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if len(c.Units) != 2 {
				t.Fatalf("%d policies: the values are read as one", len(c.Units))
			}
			p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), c.Units[0], known(nil))
			switch {
			case err != nil:
				t.Error(err)
			case p == nil && (tc.a != "" || cmp.Diff(got, messages(problems)) != ""), p != nil && p.Params["value"].Value() != tc.a:
				t.Errorf("%v, %q", p, messages(problems))
			}
		})
	}
}

// TestCatalog puts the policies of sets together. Typed values win.
func TestCatalog(t *testing.T) {
	t.Parallel()
	read := func(set string, values map[string]map[string]string) *Contents {
		return Read(setOf(set, edictv1.PolicySetSpec{Params: params(values)}), at("m", map[string]string{"a.yaml": policy("a", ""), "b.yaml": policy("b", ""), "params.yaml": "b: {value: t}"}))
	}
	contents := []*Contents{read("one", map[string]map[string]string{"a": {"value": `"x"`}}), read("two", nil), Read(nil, at("m", map[string]string{"a.yaml": policy("a", "")}))}
	for name, tc := range map[string]struct {
		typed compile.Overrides
		units map[string]string // ID to the value
	}{
		"given": {nil, map[string]string{"one/a": "x", "one/b": "t", "two/a": "a", "two/b": "t", "a": "a"}},
		"typed": {compile.TypedOverrides(map[string]map[string]string{"b": {"value": "z"}}, Typed), map[string]string{"one/a": "x", "one/b": "z", "two/a": "a", "two/b": "z", "a": "a"}},
	} {
		c := NewCatalog(contents, tc.typed)
		units := map[string]string{}
		for id, u := range c.Units {
			p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), u, known(nil))
			if err != nil || p == nil {
				t.Fatal(err, messages(problems))
			}
			units[id], _ = p.Params["value"].Value().(string)
			if p.ID() != id || !slices.Contains(c.Origins[id].Units, contentsUnit(c.Origins[id], id)) {
				t.Errorf("%s: %s is of %s", name, id, p.ID())
			}
		}
		if d := cmp.Diff(tc.units, units); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
		if d := cmp.Diff([]string{"a", "one/a", "two/a"}, c.Named("a")); d != "" || c.Has("c") || !c.Has("b") {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

func contentsUnit(c *Contents, id string) *Unit {
	for _, u := range c.Units {
		if u.ID() == id {
			return u
		}
	}
	return nil
}

// TestBinaryData: kubectl puts a file there that is not UTF-8. What it held
// before is not taken for removed.
func TestBinaryData(t *testing.T) {
	t.Parallel()
	m := at("m", map[string]string{"b.yaml": policy("b", "")})
	m.Binary = []string{"a.yaml", "logo.png"}
	c := Read(nil, m)
	want := []string{"error ns/m/a.yaml: binaryData is not read (save the file as UTF-8)", "warning ns/m/logo.png: binaryData is not read (save the file as UTF-8)"}
	if d := cmp.Diff(want, messages(c.Problems)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestMaxPolicies: of a ConfigMap with too many policies some are not compiled; none is
// left out, which would stop it.
func TestMaxPolicies(t *testing.T) {
	t.Parallel()
	for n, refused := range map[int]int{MaxPolicies: 0, MaxPolicies + 3: 3} {
		var texts []string
		for i := range n {
			texts = append(texts, policy(fmt.Sprintf("p%03d", i), ""))
		}
		read := Read(nil, at("m", map[string]string{"a.yaml": strings.Join(texts[:n/2], "---\n"), "b.yaml": strings.Join(texts[n/2:], "---\n")}))
		c := NewCatalog([]*Contents{read}, nil)
		var got []string
		for id, u := range c.Units {
			if p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), u, known(nil)); err != nil || p == nil {
				got = append(got, id)
				if !strings.Contains(strings.Join(messages(problems), " "), "at most 200 are") {
					t.Error(messages(problems), err)
				}
			}
		}
		if len(c.Units) != n || len(got) != refused || len(read.Problems) != min(refused, 1) || slices.Contains(got, "p000") {
			t.Errorf("%d of %d are refused: %v; %v", len(got), len(c.Units), got, read.Problems)
		}
	}
}

// TestSameTextOfAnotherKind: a number is no text, however it is written.
func TestSameTextOfAnotherKind(t *testing.T) {
	t.Parallel()
	revision := func(text string) string {
		return Read(nil, at("m", map[string]string{"a.yaml": policy("a", ""), "params.yaml": "a: {value: " + text + "}"})).Units[0].Revision()
	}
	for _, pair := range [][2]string{{"123", `"123"`}, {"true", `"true"`}, {"[a b]", "[a, b]"}} {
		if revision(pair[0]) == revision(pair[1]) {
			t.Errorf("%s and %s have one revision", pair[0], pair[1])
		}
	}
	if revision("x") != revision(`"x"`) {
		t.Error("one text has two revisions")
	}
}
