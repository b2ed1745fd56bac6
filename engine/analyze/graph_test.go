package analyze

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// chain makes a rule that uses a variable, which uses a param and an input.
func chain(param, variable, rule string) (root *Node, names map[string]*Node) {
	at := document.Position{}
	root = New(Policy, "p", at)
	names = map[string]*Node{"param": root.Part(Param, "x", at), "input": root.Part(Input, "i", at), "variable": root.Part(Variable, "v", at), "rule": root.Part(Rule, "r", at)}
	names["gate"] = names["rule"].Part(Gate, "r", at)
	names["action"] = names["rule"].Part(Action, "labels", at)
	names["param"].Text, names["variable"].Text, names["rule"].Text = param, variable, rule
	names["variable"].Use(names["param"], names["input"], names["param"], nil)
	names["gate"].Use(names["variable"])
	root.Seal()
	return root, names
}

// TestHash: a hash tells a node from one that says something else, or that
// depends on something else, and from no other.
func TestHash(t *testing.T) {
	t.Parallel()
	_, before := chain("1", "x + 1", "do")
	for name, tc := range map[string]struct {
		param, variable, rule string
		want                  []string
	}{
		"nothing":    {"1", "x + 1", "do", nil},
		"a param":    {"2", "x + 1", "do", []string{"gate", "param", "rule", "variable"}},
		"a variable": {"1", "x + 2", "do", []string{"gate", "rule", "variable"}},
		"a rule":     {"1", "x + 1", "do more", []string{"rule"}},
	} {
		_, now := chain(tc.param, tc.variable, tc.rule)
		var got []string
		for part := range before {
			if before[part].Hash() != now[part].Hash() {
				got = append(got, part)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestQueries: what can be asked of a graph.
func TestQueries(t *testing.T) {
	t.Parallel()
	_, n := chain("1", "x", "do")
	if got := n["rule"].Dependencies(); !maps.Equal(got, map[*Node]bool{n["variable"]: true, n["param"]: true, n["input"]: true}) {
		t.Errorf("the rule depends on %v", got)
	}
	if got := n["param"].Dependencies(); len(got) != 0 {
		t.Errorf("the param depends on %v", got)
	}
	if is := func(o *Node) bool { return o == n["param"] }; !n["rule"].Reaches(is) || n["action"].Reaches(is) {
		t.Error("the gate reaches the param, and the action does not")
	}
	if n["variable"].UsesOnly(Param) || !n["variable"].UsesOnly(Param, Input) || !n["rule"].UsesOnly(Variable) {
		t.Error("the variable uses a param and an input")
	}
	n["gate"].Reads.Add(Object, &value.Mask{Fields: map[string]*value.Mask{"spec": {}}})
	n["action"].HandsOn.Add(Object, &value.Mask{Fields: map[string]*value.Mask{"status": {}}})
	if got := masked(n["rule"].ObjectMask()); got != "{spec, status}" {
		t.Errorf("the rule reads %s", got)
	}
}

// TestTree: programs with the same tree compute the same, and others do not.
func TestTree(t *testing.T) {
	t.Parallel()
	env := environment(t)
	same := [][]string{
		{`object.spec.replicas > 3`, `  object . spec // how many` + "\n" + `.replicas>3`, "object.`spec`.replicas > 3", `(object.spec.replicas) > 3`},
		{`variables.any == "a"`, "variables . `any` == 'a'", `variables.any == "\x61"`},
		{`object.spec.parts.exists(p, p.size > 3)`, `object.spec.parts.exists( p , p.size > 3 )`},
		{`object.spec.replicas >= 3`}, {`object.spec.replicas > 4`}, {`object.spec.replicas > 3 && true`}, {`item.spec.replicas > 3`},
		{`has(object.spec.replicas)`}, {`object.spec.?replicas`}, {`object.spec.replicas`}, {`dyn(object.spec.replicas) > 3`}, {`dyn(object.spec.replicas) > 3.0`},
		{`variables.any == 3`}, {`variables.any == "3"`}, {`variables.any == 3.0`}, {`variables.any == 3u`}, {`variables.any == b"3"`}, {`variables.any == null`},
		{`[1, 2]`}, {`[2, 1]`}, {`[1, ?optional.of(2)]`}, {`[[1], [2]]`}, {`{"a": 1}`}, {`{"b": 1}`}, {`{?"a": optional.of(1)}`},
		{`object.spec.parts.exists(q, q.size > 3)`}, {`object.spec.parts.all(p, p.size > 3)`}, {`object.spec.parts.exists_one(p, p.size > 3)`},
	}
	seen := map[string]string{}
	for _, spellings := range same {
		tree := Tree(compiled(t, env, spellings[0]))
		for _, other := range spellings[1:] {
			if diff := cmp.Diff(tree, Tree(compiled(t, env, other))); diff != "" {
				t.Errorf("%s and %s:\n%s", spellings[0], other, diff)
			}
		}
		if other, dup := seen[tree]; dup {
			t.Errorf("%s and %s have the same tree", spellings[0], other)
		}
		seen[tree] = spellings[0]
	}
}

// TestParseRef: names are told apart by their qualifiers, and a name that was
// parsed is written as it was.
func TestParseRef(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Kind{
		"object": Primary, "now": Context, "leaving": Context, "error.message": Context, "key.name": Key, "params.x": Param, "inputs.x": Input,
		"variables.x": Variable, "inputs.a.b": Input, "item": Local, "error": Local, "error.x": Local, "paramsx": Local, "x.params": Local,
	} {
		if got := ParseRef(name); got.Kind != want || got.String() != name {
			t.Errorf("%s is the %s %s, want a %s", name, got.Kind, got, want)
		}
	}
}
