package compare_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/compare"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/fixture"
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
	return fixture.Compiled(t, texts...).Policies
}

func nodes(t *testing.T) []simulate.Object {
	t.Helper()
	return fixture.Objects(t, `
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {mark: old}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}}
---
{apiVersion: v1, kind: Node, metadata: {name: c}}
`)
}

func run(t *testing.T, before, after []*plan.Policy) *compare.Result {
	t.Helper()
	r, err := compare.Run(t.Context(), compare.Options{
		Before: before, After: after, Schemas: schema.NewSet(schema.Builtin()), Objects: nodes(t), Start: fixture.Start, Guard: guard.New(nil).Assuming(),
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
		"another label": {[]string{v1}, []string{strings.Replace(v1, "set: {mark:", "set: {other:", 1)}, compare.Result{Changed: 2, UnchangedObjects: 1, Evaluations: 10, Kept: []compare.Kept{{Policy: "mark", APIVersion: "v1", Kind: "Node", Fields: []string{"metadata.labels.mark"}}}, Changes: []compare.Change{
			update("a", []string{"mark"}, compare.Field{Path: "metadata.labels.mark", Before: "v1", After: "old"}, compare.Field{Path: "metadata.labels.other", After: "v1"}),
			update("b", []string{"mark"}, compare.Field{Path: "metadata.labels.mark", Before: "v1"}, compare.Field{Path: "metadata.labels.other", After: "v1"}),
		}}},
		"what is not written any more": {[]string{v1}, nil, compare.Result{Changed: 2, UnchangedObjects: 1, Evaluations: 5, Kept: []compare.Kept{{Policy: "mark", APIVersion: "v1", Kind: "Node", Fields: []string{"metadata.labels.mark"}}}, Changes: []compare.Change{
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
			tc.want.NotDecided, tc.want.Paused = []compare.NotDecided{}, []simulate.Paused{}
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

// TestRunInPart: a key of which one rule fails and another writes is told from one
// that comes to nothing.
func TestRunInPart(t *testing.T) {
	t.Parallel()
	const begin = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules:\n"
	const fails = "    - {name: fails, continueOnError: true, do: [{fail: \"no\"}]}\n"
	for rest, want := range map[string]bool{"": false, "    - {name: other, do: [{labels: {set: {x: y}}}]}\n": true} {
		got := run(t, nil, policies(t, begin+fails+rest))
		if len(got.NotDecided) != 3 || got.NotDecided[0].Partly != want {
			t.Errorf("%+v, want in part: %v", got.NotDecided, want)
		}
	}
}

// TestRunWithRecordedAnswers: a key is decided by the answer that was recorded for
// the same request, and by no other.
func TestRunWithRecordedAnswers(t *testing.T) {
	t.Parallel()
	// What a controller has recorded: the answer is 7 points for x.
	asked := simulate.New(t.Context(), simulate.Options{
		Policies: policies(t, ask), Schemas: schema.NewSet(schema.Builtin()), Objects: nodes(t), Guard: guard.New(nil).Assuming(), Start: fixture.Start,
		Answers: answering(7),
	})
	asked.Settle(t.Context())
	recorded, err := json.Marshal(asked.Result())
	if err != nil || !strings.Contains(string(recorded), `"scores":[7]`) {
		t.Fatal(err, string(recorded))
	}
	for name, tc := range map[string]struct {
		policy     string
		recorded   string
		notDecided int
		chosen     any
	}{
		"the same request":    {ask, string(recorded), 0, "yes"},
		"twice in a file":     {ask, string(recorded) + "\n" + string(recorded), 0, "yes"},
		"the last one counts": {ask, string(recorded) + strings.ReplaceAll(string(recorded), `"scores":[7]`, `"scores":[null]`), 0, "no"},
		"another candidate":   {strings.Replace(ask, `["x"]`, `["x", "y"]`, 1), string(recorded), 3, nil},
		"another request":     {strings.Replace(ask, "duration('1m')", "duration('2m')", 1), string(recorded), 3, nil},
		"a failure":           {ask, strings.ReplaceAll(string(recorded), `"error":""`, `"error":"unexpected status 503"`), 3, nil},
		"nothing":             {ask, "", 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := record.NewAnswers(nil)
			if err := answers.Read(strings.NewReader(tc.recorded)); err != nil {
				t.Fatal(err)
			}
			got, err := compare.Run(t.Context(), compare.Options{
				After: policies(t, tc.policy), Schemas: schema.NewSet(schema.Builtin()), Objects: nodes(t), Start: fixture.Start, Guard: guard.New(nil).Assuming(), Answers: answers,
			})
			if err != nil {
				t.Fatal(err)
			}
			var chosen any
			if len(got.Changes) > 0 {
				chosen = got.Changes[0].Fields[0].After
			}
			if len(got.NotDecided) != tc.notDecided || chosen != tc.chosen {
				t.Errorf("chosen %v, not decided %v", chosen, got.NotDecided)
			}
		})
	}
	for _, text := range []string{"{", `{"calls": [{"builtin": "b", "request": {}, "response": {}}]}`, `{"calls": [{"builtin": "b", "request": {"candidates": [{}]}, "response": {"scores": ["x"]}}]}`} {
		if err := record.NewAnswers(nil).Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "document 1") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// answering gives every candidate so many points.
type answering int64

func (a answering) Answer(_ context.Context, r *expr.Request) (*expr.Response, error) {
	out := &expr.Response{}
	for range r.Candidates.Len() {
		out.Verdicts = append(out.Verdicts, expr.Kept(int64(a)))
	}
	return out, nil
}

// TestOrphans: children of a kind that the policy no longer names stay, and are named.
func TestOrphans(t *testing.T) {
	t.Parallel()
	child := func(name, kind string) string {
		return "    - {name: " + name + ", apply: {apiVersion: v1, kind: " + kind + ", metadata: {name: \"" + name + "-${key.name}\", namespace: n}}}\n"
	}
	const head = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: app}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  children:\n"
	before := head + child("a", "ConfigMap") + child("b", "ServiceAccount") + child("c", "ServiceAccount")
	left := func(kind string, sets ...string) compare.Kept {
		return compare.Kept{Policy: "app", APIVersion: "v1", Kind: kind, Fields: []string{}, Children: sets}
	}
	for name, tc := range map[string]struct {
		after []string
		want  []compare.Kept
	}{
		"no edit":               {[]string{before}, nil},
		"another of the kind":   {[]string{head + child("a", "ConfigMap") + child("c", "ServiceAccount")}, nil},
		"the last of the kind":  {[]string{head + child("a", "ConfigMap")}, []compare.Kept{left("ServiceAccount", "b", "c")}},
		"another kind":          {[]string{head + child("a", "ServiceAccount")}, []compare.Kept{left("ConfigMap", "a")}},
		"the policy is removed": {nil, []compare.Kept{left("ConfigMap", "a"), left("ServiceAccount", "b", "c")}},
	} {
		if d := cmp.Diff(tc.want, run(t, policies(t, before), policies(t, tc.after...)).Kept); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestOrphansOfNamespaces: children stay when the policy has fewer namespaces, and are named.
func TestOrphansOfNamespaces(t *testing.T) {
	t.Parallel()
	in := func(namespaces string) []*plan.Policy {
		return policies(t, "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: app}\nspec:\n  for: {apiVersion: apps/v1, kind: Deployment"+namespaces+"}\n"+
			"  children: [{name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${key.name}\"}}}]\n")
	}
	for name, tc := range map[string]struct {
		before, after string
		stay          bool
	}{
		"one less":      {", namespaces: [x, y]", ", namespaces: [x]", true},
		"not all":       {"", ", namespaces: [x]", true},
		"one more":      {", namespaces: [x]", ", namespaces: [x, y]", false},
		"all":           {", namespaces: [x]", "", false},
		"another order": {", namespaces: [x, y]", ", namespaces: [y, x]", false},
	} {
		if got := run(t, in(tc.before), in(tc.after)).Kept; len(got) > 0 != tc.stay {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFieldsOfOthers: a field that a policy no longer applies stays if another manager has it.
func TestFieldsOfOthers(t *testing.T) {
	t.Parallel()
	text := func(data string) []*plan.Policy {
		return policies(t, "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: app}\nspec:\n  for: {apiVersion: v1, kind: Node}\n"+
			"  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${key.name}\", namespace: n}, data: "+data+"}, ifExists: take}]}]\n")
	}
	objects := append(nodes(t), fixture.Objects(t, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n, managedFields: [{manager: rival, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:x": {}}}}]}, data: {x: "1"}}`)...)
	got, err := compare.Run(t.Context(), compare.Options{
		Before: text("{x: \"1\", y: \"2\"}"), After: text("{z: \"3\"}"), Schemas: schema.NewSet(schema.Builtin()), Objects: objects, Start: fixture.Start, Guard: guard.New(nil).Assuming(),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []compare.Kept{{Policy: "app", APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a", Fields: []string{"data.x"}, Managers: []string{"rival"}}}
	if d := cmp.Diff(want, got.Kept); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestKeptSentences: what stays is said in a sentence each.
func TestKeptSentences(t *testing.T) {
	t.Parallel()
	for want, k := range map[string]compare.Kept{
		"p does not write metadata.labels.a of Node any more: it stays where it is set":          {Policy: "p", Kind: "Node", Fields: []string{"metadata.labels.a"}},
		"p no longer decides about all objects of kind Service: those of the child a, b stay":    {Policy: "p", Kind: "Service", Children: []string{"a", "b"}},
		"p does not apply data.x of ConfigMap n/a any more: it stays, because rival has it, too": {Policy: "p", Kind: "ConfigMap", Namespace: "n", Name: "a", Fields: []string{"data.x"}, Managers: []string{"rival"}},
	} {
		if got := k.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
