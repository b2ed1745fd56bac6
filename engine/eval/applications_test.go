package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
)

// each is a rule that applies a Part for each of some items; more is said of the rule.
func each(items, name, more string) string {
	return fmt.Sprintf("  rules:\n    - {name: r, forEach: '%s', do: [{apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: %q}, n: \"${item.n}\"}}]%s}\n", items, name, more)
}

// numbered are n items, of Parts with so many names.
func numbered(n, names int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"name": "i%d", "n": "%d", "part": "p%d"}`, i, i, i%names)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// TestApplications: an object is applied once in an evaluation, unless it is the same again.
func TestApplications(t *testing.T) {
	t.Parallel()
	part := func(n string) string {
		return "apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: p}, n: " + n + "}"
	}
	for name, tc := range map[string]struct {
		spec    string
		written []string
		problem string
	}{
		"different names":      {each(numbered(2, 2), "${item.part}", ""), []string{"p0", "p1"}, ""},
		"one name":             {each(numbered(2, 2), "p", ""), []string{"p"}, `Part p is applied by the item "i0" of the rule "r" already; nothing is applied by the item "i1" of the rule "r". Put what tells`},
		"no names":             {each(`[{"n": "1"}, {"n": "2"}]`, "p", ""), []string{"p"}, `by item number 1 of the rule "r" already; nothing is applied by item number 2 of`},
		"the same":             {each(`[{"n": "1"}, {"n": "1"}]`, "p", ""), []string{"p"}, ""},
		"many":                 {each(numbered(40, 39), "${item.part}", ""), nil, `Part p0 is applied by the item "i0" of the rule "r" already; nothing is applied by the item "i39"`},
		"an item fails":        {strings.Replace(each(numbered(2, 2), "p", ""), "}}]", "}}, {fail: x}]", 1), []string{}, "x"},
		"twice in an item":     {do(part("1") + ", " + part("2")), []string{}, `Part p is applied by the rule "r1" already; nothing is applied by the rule "r1". Let one of them`},
		"by two rules":         {do(part("1"), part("2")), []string{"p"}, `by the rule "r1" already; nothing is applied by the rule "r2". Let one of them`},
		"after one that fails": {"  rules:\n    - {name: r1, continueOnError: true, do: [{" + part("1") + "}, {fail: x}], onError: [{" + part("2") + "}]}\n    - {name: r2, do: [{" + part("2") + "}]}\n", []string{"p"}, "x"},
		"created and again":    {do("create: {apiVersion: example.com/v1, kind: Part, metadata: {name: p}, n: 1}", "create: {apiVersion: example.com/v1, kind: Part, metadata: {name: p}, n: 2}"), []string{"p"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newBench(t, tc.spec, "{kind: Widget, metadata: {name: w}}").decide(widget, now)
			written, problem := []string{}, ""
			for _, e := range d.Effects {
				written = append(written, e.Target.Name())
			}
			if len(d.Problems) > 0 {
				problem = d.Problems[0].Err.Error()
			}
			if diff := cmp.Diff(tc.written, written); diff != "" && tc.written != nil {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !strings.Contains(problem, tc.problem) || (problem == "") != (tc.problem == "") {
				t.Errorf("got %q, want %q", problem, tc.problem)
			}
		})
	}
}

// TestKeeper: an object that the policy applied for another primary object is that one's,
// as long as that exists.
func TestKeeper(t *testing.T) {
	t.Parallel()
	const (
		child  = "  children:\n    - {name: c, apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: p}}}\n"
		owners = "  rules:\n    - {name: r, do: [{apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: p, ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: \"${key.name}\", uid: \"${object.metadata.uid}\"}]}}}]}\n"

		managed = ", managedFields: [{manager: edict/p, operation: Apply, fieldsV1: FIELDS}]"
		byA     = `ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: a, uid: uid-a}]`
		held    = `{"f:metadata": {"f:ownerReferences": {'k:{"uid":"uid-a"}': {}}}}`
	)
	marked := func(policy, child, name string) string {
		return fmt.Sprintf(`labels: {edict.dev/policy: %q, edict.dev/child: %q}, annotations: {edict.dev/primary-name: %q}`, policy, child, name) + strings.Replace(managed, "FIELDS", "{}", 1)
	}
	fields := func(owners, fields string) string { return owners + strings.Replace(managed, "FIELDS", fields, 1) }
	for name, tc := range map[string]struct {
		spec, metadata string
		refused        bool
	}{
		"a child of another":           {child, marked("p", "c", "a"), true},
		"of another set":               {child, marked("p", "former", "a"), true},
		"its own":                      {child, marked("p", "c", "w"), false},
		"of one that is gone":          {child, marked("p", "c", "gone"), false},
		"of another policy":            {child, marked("other", "c", "a"), false},
		"without all marks":            {child, marked("p", "", "a"), false},
		"without a mark":               {child, "managedFields: [{manager: edict/p, operation: Apply, fieldsV1: {}}]", false},
		"owned by another":             {owners, fields(byA, held), true},
		"owned by another as a whole":  {owners, fields(byA, `{"f:metadata": {"f:ownerReferences": {}}}`), true},
		"owned with fields":            {owners, fields(byA, `{"f:metadata": {"f:ownerReferences": {'k:{"uid":"uid-a"}': {"f:name": {}}}}}`), true},
		"owned by somebody's doing":    {owners, fields(byA, `{"f:metadata": {"f:labels": {"f:x": {}}}}`), false},
		"owned by one before":          {owners, fields(strings.Replace(byA, "uid: uid-a", "uid: before", 1), held), false},
		"owned by another kind":        {owners, fields(strings.Replace(byA, "kind: Widget", "kind: Node", 1), held), false},
		"owned, nobody is noted":       {owners, byA + ", annotations: {" + plan.AppliedKey("p") + ": x}", true},
		"not owned, nobody is noted":   {owners, "annotations: {" + plan.AppliedKey("p") + ": x}", false},
		"owned, in a child's own ways": {child, fields(byA, held), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.spec, "{kind: Widget, metadata: {name: w}}", "{kind: Widget, metadata: {name: a}}", "{kind: Part, metadata: {name: p, "+tc.metadata+"}}")
			d := b.decide(widget, now)
			refused := len(d.Problems) == 1 && strings.Contains(d.Problems[0].Err.Error(), "Part p is kept for another primary object, Widget a, which exists; nothing is applied. Put key.name")
			if refused != tc.refused || refused == (len(d.Effects) > 0) {
				t.Errorf("refused: %v, want %v: %v", refused, tc.refused, told(d))
			}
		})
	}
}
