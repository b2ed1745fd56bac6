package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
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

// at makes a ConfigMap that is some minutes old.
func at(age int, name string, data map[string]string) *ConfigMap {
	return &ConfigMap{Namespace: "ns", Name: name, UID: name, Created: time.Date(2026, 1, 1, 0, -age, 0, 0, time.UTC), Data: data}
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
		mode     string
		units    []string // ID, modules
		tests    []string
		problems []string
	}{
		"several files, tests and Rego": {
			data:  map[string]string{"a.yaml": policy("a", "") + "---\n" + policy("b", ""), "a.rego": rego, "a_more.rego": rego, "a_test.rego": rego, "c.yml": policy("c", ""), "a.test.yaml": "x"},
			units: []string{"a ns/m/a.rego ns/m/a_more.rego ns/m/a_test.rego", "b ns/m/a.rego ns/m/a_more.rego ns/m/a_test.rego", "c"}, tests: []string{"ns/m/a.test.yaml"}, problems: []string{},
		},
		"a test of a key that is not there": {
			data:  map[string]string{"a.yaml": policy("a", ""), "b.yml": policy("b", ""), "a.test.yaml": testOf("a.yaml", "b.yml", "c.yaml", ".") + "---\n" + testOf()},
			units: []string{"a", "b"}, tests: []string{"ns/m/a.test.yaml"},
			problems: []string{`error ns/m/a.test.yaml:4:34: the ConfigMap has no key "c.yaml" (keys with policies are a.yaml, b.yml; without spec.policies all of them are tested)`,
				`error ns/m/a.test.yaml:4:42: the ConfigMap has no key "." (keys with policies are a.yaml, b.yml; without spec.policies all of them are tested)`},
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
			problems: []string{"error ns/m/a.yaml:1:1: a test stands among the policies (move it to a key that ends in .test.yaml)",
				"error ns/m/a.yaml:6:1: allowances belong to the installation: a policy cannot widen what it may do (give them to the controller with --allowances)"},
		},
		"a mode for all":    {data: map[string]string{"a.yaml": policy("a", "") + "---\n" + policy("b", "")}, mode: "Shadow", units: []string{"a@shadow", "b@shadow"}, problems: []string{}},
		"a mode for one":    {data: map[string]string{"a.yaml": policy("a", "") + "---\n" + policy("b", "")}, mode: "b=Shadow", units: []string{"a", "b@shadow"}, problems: []string{}},
		"out of the shadow": {data: map[string]string{"a.yaml": policy("a", "  mode: Shadow\n")}, mode: "Enforce", units: []string{"a"}, problems: []string{}},
		"a mode for nobody": {data: map[string]string{"agent.yaml": policy("agent", "")}, mode: "agnet=Disabled,other=Shadow", units: []string{"agent"},
			problems: []string{`warning ns/m (annotation edict.dev/mode): there is no policy "agnet" in this ConfigMap (did you mean "agent"?)`,
				`warning ns/m (annotation edict.dev/mode): there is no policy "other" in this ConfigMap`}},
		"a mode that is not": {data: map[string]string{"a.yaml": policy("a", "")}, mode: "quiet", units: []string{"a"}, problems: []string{`error ns/m (annotation edict.dev/mode): unknown mode "quiet" (Enforce, Shadow or Disabled, alone or as policy=mode)`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := at(0, "m", tc.data)
			m.Mode = tc.mode
			got := m.Read()
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

// TestRevisions: that of a ConfigMap changes with its data, that of the tests
// with the tests.
func TestRevisions(t *testing.T) {
	t.Parallel()
	first := at(0, "m", map[string]string{"a.yaml": policy("a", ""), "a.test.yaml": "x"})
	annotated := at(0, "m", first.Data)
	annotated.Mode = "Shadow"
	tested := at(0, "m", map[string]string{"a.yaml": policy("a", ""), "a.test.yaml": "y"})
	edited := at(0, "m", map[string]string{"a.yaml": policy("a", "  mode: Disabled\n"), "a.test.yaml": "x"})
	if first.Revision() != annotated.Revision() || first.Revision() == tested.Revision() || first.Revision() == edited.Revision() {
		t.Error("the revision of a ConfigMap is not that of its data")
	}
	if first.Read().TestsRevision() != edited.Read().TestsRevision() || first.Read().TestsRevision() == tested.Read().TestsRevision() {
		t.Error("the revision of the tests is not theirs")
	}
}

// TestCatalog puts ConfigMaps together: the older is right.
func TestCatalog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policies, params []*ConfigMap
		typed            compile.Overrides
		units            map[string]string // ID to where it stands and the value it has
		conflicts        map[string][]string
	}{
		"values from everywhere": {
			policies: []*ConfigMap{at(1, "m", map[string]string{"a.yaml": policy("a", ""), "b.yaml": policy("b", ""), "c.yaml": policy("c", "")})},
			params:   []*ConfigMap{at(1, "p", map[string]string{"a": "value: x\n", "b.yaml": "value: y"})},
			typed:    compile.TypedOverrides(map[string]map[string]string{"b": {"value": "z"}}, Typed),
			units:    map[string]string{"a": "ns/m/a.yaml x from ns/p", "b": "ns/m/b.yaml z from --param", "c": "ns/m/c.yaml a"},
		},
		"one name twice": {
			policies:  []*ConfigMap{at(1, "new", map[string]string{"a.yaml": policy("a", "")}), at(2, "old", map[string]string{"a.yaml": policy("a", "")})},
			units:     map[string]string{"a": "ns/old/a.yaml a"},
			conflicts: map[string][]string{"ns/new": {`error ns/new/a.yaml:4:9: the policy "a" is defined twice, first at ns/old/a.yaml:4:9`}},
		},
		"a shadow beside it": {
			policies: []*ConfigMap{at(1, "new", map[string]string{"a.yaml": policy("a", "  mode: Shadow\n")}), at(2, "old", map[string]string{"a.yaml": policy("a", "")})},
			params:   []*ConfigMap{at(1, "p", map[string]string{"a": "value: x"})},
			units:    map[string]string{"a": "ns/old/a.yaml x from ns/p", "a@shadow": "ns/new/a.yaml x from ns/p"},
		},
		"a value twice": {
			policies:  []*ConfigMap{at(1, "m", map[string]string{"a.yaml": policy("a", "")})},
			params:    []*ConfigMap{at(1, "new", map[string]string{"a": "value: x"}), at(2, "old", map[string]string{"a": "value: y"})},
			units:     map[string]string{"a": "ns/m/a.yaml y from ns/old"},
			conflicts: map[string][]string{"ns/new": {"error ns/new/a:1:8: the param a.value is given twice, first at ns/old/a:1:8"}},
		},
		"values for nobody": {
			params:    []*ConfigMap{at(1, "p", map[string]string{"a": "value: x"})},
			units:     map[string]string{},
			conflicts: map[string][]string{"ns/p": {`warning ns/p/a: there is no policy "a"`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var contents []*Contents
			var values []*Values
			for _, m := range tc.policies {
				contents = append(contents, m.Read())
			}
			for _, m := range tc.params {
				values = append(values, m.ReadParams())
			}
			c := NewCatalog(contents, values, tc.typed)
			units, conflicts := map[string]string{}, map[string][]string{}
			for id, u := range c.Units {
				p, problems, err := u.Compile(known(nil), nil)
				if err != nil || p == nil {
					t.Fatal(err, messages(problems))
				}
				units[id] = strings.TrimSpace(u.File.Path + " " + p.Params["value"].Value().(string) + from(u))
				if want := map[bool]plan.Mode{true: plan.Shadow, false: plan.Enforce}[strings.HasSuffix(id, "@shadow")]; p.Mode != want {
					t.Errorf("%s has the mode %s", id, p.Mode)
				}
			}
			for path, list := range c.Conflicts {
				conflicts[path] = messages(list)
			}
			if tc.conflicts == nil {
				tc.conflicts = map[string][]string{}
			}
			for _, d := range []string{cmp.Diff(tc.units, units), cmp.Diff(tc.conflicts, conflicts)} {
				if d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			}
		})
	}
}

// TestConflictsInOneOrder: what a ConfigMap is told in another order is written
// into it anew, which is looked at, and so on.
func TestConflictsInOneOrder(t *testing.T) {
	t.Parallel()
	many := map[string]string{"a": "e: 1\nd: 1\nc: 1\nb: 1\na: 1\n"}
	for _, policy := range []string{"v", "w", "x", "y", "z"} {
		many[policy] = "b: 1\na: 1\n"
	}
	policies := []*Contents{at(1, "m", map[string]string{"a.yaml": policy("a", "")}).Read()}
	var want []string
	for range 20 {
		values := []*Values{at(2, "old", map[string]string{"a": many["a"]}).ReadParams(), at(1, "p", many).ReadParams()}
		got := messages(NewCatalog(policies, values, nil).Conflicts["ns/p"])
		if want == nil {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" || len(got) != 10 {
			t.Fatalf("%d conflicts; -want +got:\n%s", len(got), d)
		}
	}
}

func from(u *Unit) string {
	if o, ok := u.Overrides["value"]; ok {
		return " from " + o.From
	}
	return ""
}

func TestParamsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"no mapping":   {"[1]", "error ns/p/a:1:1: the values of the params must be a mapping, not a list (name: value, one per line)"},
		"no value":     {"x:\n", `error ns/p/a:1:1: the param "x" has no value (remove the line to have the default)`},
		"given twice":  {"x: 1\nx: 2\n", `error ns/p/a:2:1: `},
		"broken YAML":  {"x: [", "error ns/p/a"},
		"nothing":      {"", ""},
		"only remarks": {"# x: 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := messages(at(0, "p", map[string]string{"a": tc.text}).ReadParams().Problems)
			switch {
			case tc.want == "" && len(got) == 0:
			case tc.want != "" && len(got) == 1 && strings.HasPrefix(got[0], tc.want):
			default:
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestAParamGivenTwiceInOneConfigMap: which of the values is meant is not known,
// whether they stand in one key or in two.
func TestAParamGivenTwiceInOneConfigMap(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data  map[string]string
		want  []string
		twice bool
	}{
		"two keys":      {map[string]string{"a": "value: x", "a.yaml": "value: y"}, []string{"error ns/p/a.yaml:1:8: the param a.value is given twice, first at ns/p/a:1:8"}, true},
		"two documents": {map[string]string{"a": "value: x\n---\nvalue: y\n"}, []string{"error ns/p/a:3:8: the param a.value is given twice, first at ns/p/a:1:8"}, true},
		"other params":  {map[string]string{"a": "value: x\n---\nmore: y\n", "a.yaml": "third: z"}, []string{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := at(0, "p", tc.data).ReadParams()
			if d := cmp.Diff(tc.want, messages(v.Problems)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if (len(v.Unread["a"]) > 0) != tc.twice || !tc.twice && len(v.Overrides["a"]) != 3 {
				t.Errorf("%d values, unread: %q", len(v.Overrides["a"]), messages(v.Unread["a"]))
			}
		})
	}
}

// TestBinaryData: kubectl puts a file there that is not UTF-8. What it held
// before is not taken for removed.
func TestBinaryData(t *testing.T) {
	t.Parallel()
	m, p := at(1, "m", map[string]string{"b.yaml": policy("b", "")}), at(1, "p", nil)
	m.Binary, p.Binary = []string{"a.yaml", "logo.png"}, []string{"b.yaml"}
	c := NewCatalog([]*Contents{m.Read()}, []*Values{p.ReadParams()}, nil)
	want := []string{"error ns/m/a.yaml: binaryData is not read (save the file as UTF-8)", "warning ns/m/logo.png: binaryData is not read (save the file as UTF-8)"}
	if d := cmp.Diff(want, messages(c.Contents[0].Problems)); d != "" || !c.Unreadable("ns/m/a.yaml") || c.Unreadable("ns/m/logo.png") {
		t.Errorf("-want +got:\n%s", d)
	}
	want = []string{"error ns/p/b.yaml: binaryData is not read (save the file as UTF-8)"}
	for _, got := range [][]document.Problem{c.Values[0].Problems, c.Units["b"].Unread} {
		if d := cmp.Diff(want, messages(got)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

// TestUnreadable tells which files may hold policies that do not show.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	c := NewCatalog([]*Contents{at(0, "m", map[string]string{"a.yaml": "]", "b.yaml": policy("b", "")}).Read()}, nil, nil)
	if !c.Unreadable("ns/m/a.yaml") || c.Unreadable("ns/m/b.yaml") || c.Unreadable("ns/m/c.yaml") {
		t.Error("only a.yaml cannot be read")
	}
}

// TestHold: what cannot be told of the file of a policy hands it over to nobody. What can
// be told does, and so does the rule that the older one is right.
func TestHold(t *testing.T) {
	t.Parallel()
	good := policy("a", "")
	old := func(key, text string) *ConfigMap { return at(2, "old", map[string]string{key: text}) }
	binary := old("other.yaml", policy("b", ""))
	binary.Binary = []string{"a.yaml"}
	odd := old("a.yaml", policy("a", "  mode: Shadow\n"))
	odd.Mode = "Enfroce"
	many := old("a.yaml", "")
	for i := range MaxPolicies + 1 {
		many.Data["a.yaml"] += "---\n" + policy(fmt.Sprint("p", i), "")
	}
	for name, tc := range map[string]struct {
		first *ConfigMap
		held  bool
	}{
		"not YAML":              {old("a.yaml", "foo: [bar"), true},
		"a field that is none":  {old("a.yaml", policy("a", "  nonsense: 1\n")), true},
		"too deep":              {old("a.yaml", strings.Repeat("[", 20000)), true},
		"another one is broken": {old("a.yaml", policy("b", "  nonsense: 1\n")), true},
		"binaryData":            {binary, true},
		"a mode that is none":   {odd, true},
		"too many policies":     {many, true},
		"gone from the file":    {old("a.yaml", policy("b", "")), false},
		"the file is gone":      {old("b.yaml", policy("b", "")), false},
		"another file":          {old("b.yaml", "foo: [bar"), false},
		"a younger ConfigMap":   {at(0, "old", map[string]string{"a.yaml": "foo: [bar"}), false},
		"another ConfigMap":     {at(2, "older", map[string]string{"a.yaml": "foo: [bar"}), false},
	} {
		c := NewCatalog([]*Contents{at(1, "new", map[string]string{"z.yaml": good}).Read(), tc.first.Read()}, nil, nil)
		c.Hold("a", "ns/old/a.yaml")
		want := []string{}
		if tc.held {
			want = []string{`error ns/new/z.yaml:4:9: the policy "a" may be defined twice: it was last found in ns/old/a.yaml, which has errors (correct or remove ns/old/a.yaml)`}
		}
		if d := cmp.Diff(want, messages(c.Conflicts["ns/new"])); d != "" || (c.Units["a"] == nil) != tc.held || (c.Origins["a"] == nil) != tc.held {
			t.Errorf("%s: %v -want +got:\n%s", name, c.Units["a"], d)
		}
	}
}

// TestHoldInOneConfigMap: of two files of one ConfigMap the first is right.
func TestHoldInOneConfigMap(t *testing.T) {
	t.Parallel()
	for file, held := range map[string]bool{"ns/m/a.yaml": true, "ns/m/z.yaml": false, "ns/m/p.yaml": false} {
		m := at(0, "m", map[string]string{"a.yaml": "]", "p.yaml": policy("p", "") + "---\n]", "z.yaml": "]"})
		c := NewCatalog([]*Contents{m.Read()}, nil, nil)
		if c.Hold("p", file); (c.Units["p"] == nil) != held {
			t.Errorf("last found in %s: %v", file, c.Units["p"])
		}
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
		read := at(1, "m", map[string]string{"a.yaml": strings.Join(texts[:n/2], "---\n"), "b.yaml": strings.Join(texts[n/2:], "---\n")}).Read()
		c := NewCatalog([]*Contents{read}, nil, nil)
		var got []string
		for id, u := range c.Units {
			if p, problems, err := u.Compile(known(nil), nil); err != nil || p == nil {
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

// TestValuesThatCannotBeRead: with them a policy has nothing to go by, least of
// all its defaults.
func TestValuesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	policies := []*Contents{at(1, "m", map[string]string{"a.yaml": policy("a", ""), "b.yaml": policy("b", "")}).Read()}
	values := []*Values{at(1, "p", map[string]string{"a": "value: [", "b": "value: y"}).ReadParams()}
	c := NewCatalog(policies, values, nil)
	p, problems, err := c.Units["a"].Compile(known(nil), nil)
	if p != nil || err != nil || len(problems) != 1 || problems[0].File != "ns/p/a" {
		t.Errorf("%v, %q (%v)", p, messages(problems), err)
	}
	if p, problems, err := c.Units["b"].Compile(known(nil), nil); p == nil || err != nil {
		t.Errorf("the values of the other hold it up: %q (%v)", messages(problems), err)
	}
	mended := NewCatalog(policies, []*Values{at(1, "p", nil).ReadParams()}, nil)
	if mended.Units["a"].Same(c.Units["a"]) {
		t.Error("what cannot be read is the same as nothing")
	}
}

// TestSameTextOfAnotherKind: a number is no text, however it is written.
func TestSameTextOfAnotherKind(t *testing.T) {
	t.Parallel()
	policies := []*Contents{at(1, "m", map[string]string{"a.yaml": policy("a", "")}).Read()}
	revision := func(text string) string {
		return NewCatalog(policies, []*Values{at(1, "p", map[string]string{"a": "value: " + text}).ReadParams()}, nil).Units["a"].Revision()
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

// TestAnUnknownModeEnforcesNothing: who meant the shadow is not to see it
// written.
func TestAnUnknownModeEnforcesNothing(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ undecided, disabled bool }{
		"Shadwo": {true, false}, "a=Shadwo": {true, false}, "b=Shadwo": {false, false}, "Shadwo,a=Enforce": {false, false}, "Shadwo,a=Disabled": {false, true}, "Disabled": {false, true},
	} {
		m := at(0, "m", map[string]string{"a.yaml": policy("a", "")})
		m.Mode = mode
		u := m.Read().Units[0]
		p, _, err := u.Compile(known(nil), nil)
		if u.Undecided != want.undecided || (p == nil) != want.undecided || u.Disabled() != want.disabled || err != nil {
			t.Errorf("%s: undecided %v, disabled %v, compiled %v (%v)", mode, u.Undecided, u.Disabled(), p != nil, err)
		}
	}
}

// TestStopped: a policy that cannot be read can be stopped.
func TestStopped(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][2]bool{"": {}, "Enforce": {}, "b=Disabled": {}, "a=Disabled": {true, true}, "Disabled": {true, true}, "Shadow": {true, false}} {
		m := at(0, "m", map[string]string{"a.yaml": "]"})
		m.Mode = mode
		c := NewCatalog([]*Contents{m.Read()}, nil, nil)
		was := at(0, "m", map[string]string{"a.yaml": policy("a", "")}).Read().Units[0]
		other := at(0, "n", map[string]string{"a.yaml": policy("a", "")}).Read().Units[0]
		if got := [2]bool{c.Stopped(was, was.File.Path, false), c.Stopped(was, was.File.Path, true)}; got != want || c.Stopped(other, other.File.Path, false) {
			t.Errorf("%q: %v, want %v", mode, got, want)
		}
	}
}
