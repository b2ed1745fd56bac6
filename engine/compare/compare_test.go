package compare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/compare"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

const (
	mark = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - {name: mark, when: 'object.metadata.name != "c"', do: [{labels: {set: {mark: VALUE}}}]}
`
	// follow writes what mark has written, a minute later.
	follow = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: follow}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - {name: follow, when: 'has(object.metadata.labels) && "mark" in object.metadata.labels', do: [{annotations: {set: {seen: "${object.metadata.labels.mark}"}}}]}
`
	ask = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: ask}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: choose
      do:
        - select:
            candidates: [{as: c, in: '["x"]'}]
            summary: "${total} candidates"
            pipeline:
              - call: extender.filterAndScore
                with: {reservationID: r, ttl: "${duration('1m')}", size: "${1}"}
                candidate: {name: "${c}", thinPoolName: ""}
            then: [{labels: {set: {chosen: "yes"}}}]
            otherwise: [{labels: {set: {chosen: "no"}}}]
`
)

func policies(t *testing.T, texts ...string) []*plan.Policy {
	t.Helper()
	data := map[string]string{}
	for i, text := range texts {
		data[string(rune('a'+i))+".yaml"] = text
	}
	contents := (&source.ConfigMap{Namespace: "n", Name: "m", Data: data}).Read()
	b, err := source.Assemble(contents.Units, schema.NewSet(schema.Builtin()), nil, nil, nil)
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	return b.Policies
}

func nodes(t *testing.T) []simulate.Object {
	t.Helper()
	out, err := simulate.ParseObjects("nodes.yaml", []byte(`
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {mark: old}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}}
---
{apiVersion: v1, kind: Node, metadata: {name: c}}
`))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func run(t *testing.T, before, after []*plan.Policy) *compare.Result {
	t.Helper()
	r, err := compare.Run(t.Context(), compare.Options{
		Before: before, After: after, Schemas: schema.NewSet(schema.Builtin()), Objects: nodes(t), Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Guard: guard.New(nil).Assuming(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	t.Parallel()
	v1, v2 := strings.Replace(mark, "VALUE", "v1", 1), strings.Replace(mark, "VALUE", "v2", 1)
	node := func(name string) simulate.Target {
		return simulate.Target{APIVersion: "v1", Kind: "Node", Name: name}
	}
	update := func(name string, policies []string, fields ...compare.Field) compare.Change {
		return compare.Change{Target: node(name), Verb: compare.VerbUpdate, Policies: policies, Fields: fields}
	}
	for name, tc := range map[string]struct {
		before, after []string
		want          compare.Result
	}{
		"no edit": {[]string{v1, follow}, []string{v1, follow}, compare.Result{UnchangedObjects: 3, Evaluations: 26}},
		"an installation": {nil, []string{v1}, compare.Result{Changed: 2, UnchangedObjects: 1, Evaluations: 5, Changes: []compare.Change{
			update("a", []string{"mark"}, compare.Field{Path: "metadata.labels.mark", Before: "old", After: "v1"}),
			update("b", []string{"mark"}, compare.Field{Path: "metadata.labels.mark", After: "v1"}),
		}}},
		"an edit, to the end": {[]string{v1, follow}, []string{v2, follow}, compare.Result{Changed: 2, UnchangedObjects: 1, Evaluations: 26, Changes: []compare.Change{
			update("a", []string{"follow", "mark"}, compare.Field{Path: "metadata.annotations.seen", Before: "v1", After: "v2"}, compare.Field{Path: "metadata.labels.mark", Before: "v1", After: "v2"}),
			update("b", []string{"follow", "mark"}, compare.Field{Path: "metadata.annotations.seen", Before: "v1", After: "v2"}, compare.Field{Path: "metadata.labels.mark", Before: "v1", After: "v2"}),
		}}},
		"what is not written any more": {[]string{v1}, nil, compare.Result{Changed: 2, UnchangedObjects: 1, Evaluations: 5, Changes: []compare.Change{
			update("a", []string{"mark"}, compare.Field{Path: "metadata.labels.mark", Before: "v1", After: "old"}),
			update("b", []string{"mark"}, compare.Field{Path: "metadata.labels.mark", Before: "v1"}),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, policies(t, tc.before...), policies(t, tc.after...))
			if tc.want.Changes == nil {
				tc.want.Changes = []compare.Change{}
			}
			tc.want.NotDecided = []compare.NotDecided{}
			if d := cmp.Diff(&tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestRunWithoutAnswers: nothing is written by a decision that needs an answer
// which is not known, and its keys are listed.
func TestRunWithoutAnswers(t *testing.T) {
	t.Parallel()
	got := run(t, nil, policies(t, ask))
	if len(got.Changes) != 0 || len(got.NotDecided) != 3 {
		t.Fatalf("%+v", got)
	}
	first := got.NotDecided[0]
	if first.Policy != "ask" || first.Key != (eval.Key{Name: "a"}) || !strings.Contains(first.Reason, "extender.filterAndScore: its answer is not known") {
		t.Errorf("%+v", first)
	}
}
