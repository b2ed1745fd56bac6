package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
)

// wantsNone is a decision about a child that is not wanted.
func wantsNone() *record.Document {
	when := record.WhenDocument{Text: "object.spec.enabled", Value: false}
	return &record.Document{Rules: []record.RuleDocument{
		{Name: "child list", Child: "list", Outcome: record.OutcomeFired, When: &record.WhenDocument{Text: "!variables.released", Value: true}, Items: []record.ItemDocument{{Ran: true, Rows: []record.WhenDocument{when}}}},
		{Name: "report", Outcome: record.OutcomeSkipped, When: &record.WhenDocument{Text: "object.spec.report", Value: false}},
	}}
}

// TestNothingIsWritten: what waits, was refused or hangs in its deletion is not said to be as
// it should be.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	later := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	child := record.ObjectDocument{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	for name, tc := range map[string]struct {
		add  func(*record.Document)
		want string
	}{
		"nothing": {func(*record.Document) {}, "Writes: none, nothing has to change\n"},
		"a time":  {func(d *record.Document) { d.Next = &later }, "Writes: none, until 2026-03-01T12:00:00Z\n"},
		"a refused child": {func(d *record.Document) {
			d.Next, d.Variables = &later, []record.VariableDocument{{Name: "failed_list", Value: []any{"web"}}}
		}, "Writes: none, because the child list (web) failed before and is tried again later\n"},
		"an own variable": {func(d *record.Document) {
			d.Variables = []record.VariableDocument{{Name: "failed_nodes", Value: []any{"a"}}}
		}, "nothing has to change"},
		"none has failed": {func(d *record.Document) {
			d.Variables = []record.VariableDocument{{Name: "failed_list", Value: []any{}}}
		}, "nothing has to change"},
		"a deletion": {func(d *record.Document) { d.Reads = []record.ReadDocument{{ObjectDocument: child, Deleting: true}} }, "Writes: none, ConfigMap shop/web is being deleted\n"},
		"one that is held": {func(d *record.Document) {
			d.Reads = []record.ReadDocument{{ObjectDocument: child, Deleting: true, Finalizers: []string{"a/b"}}}
		}, "ConfigMap shop/web is being deleted, and kept by a/b\n"},
		"the author's when": {func(*record.Document) {}, "the rule \"child list\" applies, but nothing is wanted because `object.spec.enabled` is false;"},
	} {
		d := wantsNone()
		tc.add(d)
		var out strings.Builder
		if err := explain.Text(&out, "App", d); err != nil || !strings.Contains(out.String(), tc.want) || strings.Contains(out.String(), "released") {
			t.Errorf("%s: want %q in %s", name, tc.want, out.String())
		}
	}
}

// TestWhyNotARule: rules and children are known by their names, and an object also with its
// kind or namespace.
func TestWhyNotARule(t *testing.T) {
	t.Parallel()
	d := wantsNone()
	d.Rules = append(d.Rules, record.RuleDocument{Name: "each", Outcome: record.OutcomeFired, Items: []record.ItemDocument{{Key: "web", Ran: true}}})
	for name, want := range map[string]string{
		"report":         "`object.spec.report` is false (rule \"report\")",
		"child list":     "the rule \"child list\" has no case for the object: `object.spec.enabled` is false",
		"Deployment/web": "the rule \"each\" applies to web",
		"shop/web":       "the rule \"each\" applies to web",
		"other":          "no object is wanted that could be other because `object.spec.enabled` is false",
	} {
		if diff := cmp.Diff([]string{want}, explain.WhyNot(d, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"child list", "each", "report", "web"}, explain.Names(d)); diff != "" {
		t.Error(diff)
	}
}
