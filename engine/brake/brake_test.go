package brake

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type object = map[string]any

// frozen makes an object or a patch: nil is null.
func frozen(m map[string]any) *value.Map {
	out := map[string]value.Value{}
	for key, v := range m {
		switch v := v.(type) {
		case nil:
			out[key] = value.Null
		case object:
			out[key] = frozen(v)
		default:
			out[key] = value.Freeze(v, nil, value.KeepAll)
		}
	}
	return value.FromMap(out)
}

var widget = world.MustIdentify(schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}, "ns", "a")

func patch(before, change map[string]any) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbPatch, Rules: []string{"r"}, Target: widget, Before: frozen(before), Patch: frozen(change)}
}

// TestRemoves: what is a removal, and what besides takes something away.
func TestRemoves(t *testing.T) {
	t.Parallel()
	meta := func(m object) object { return object{"metadata": m} }
	list := func(items ...any) []any { return items }
	for name, tc := range map[string]struct {
		effect           *eval.Effect
		removes, shrinks bool
	}{
		"an object is deleted":    {&eval.Effect{Verb: eval.VerbDelete, Target: widget}, true, true},
		"an object is created":    {&eval.Effect{Verb: eval.VerbCreate, Target: widget, Patch: frozen(meta(nil))}, false, false},
		"an event":                {&eval.Effect{Verb: eval.VerbEvent, Target: widget, Patch: frozen(object{"a": nil})}, false, false},
		"a label is set":          {patch(meta(nil), meta(object{"labels": object{"a": "1"}})), false, false},
		"a label is changed":      {patch(meta(object{"labels": object{"a": "1"}}), meta(object{"labels": object{"a": "2"}})), false, false},
		"a label is removed":      {patch(meta(object{"labels": object{"a": "1"}}), meta(object{"labels": object{"a": nil}})), true, true},
		"a label that is missing": {patch(meta(nil), meta(object{"labels": object{"a": nil}})), false, false},
		"a field is removed":      {patch(object{"spec": object{"x": int64(0)}}, object{"spec": object{"x": nil}}), true, true},
		"a part is removed":       {patch(object{"spec": object{"x": int64(0)}}, object{"spec": nil}), true, true},
		"a list is emptied":       {patch(object{"l": list("a", "b")}, object{"l": list()}), true, true},
		"a list gets shorter":     {patch(object{"l": list("a", "b", "c")}, object{"l": list("a", "c")}), false, true},
		"a list gets longer":      {patch(object{"l": list("a")}, object{"l": list("a", "c")}), false, false},
		"a list changes":          {patch(object{"l": list("a")}, object{"l": list("b")}), false, false},
		"a finalizer goes":        {patch(meta(object{"finalizers": list("a", "b")}), meta(object{"finalizers": list("b")})), true, true},
		"a finalizer takes turns": {patch(meta(object{"finalizers": list("a")}), meta(object{"finalizers": list("b")})), true, true},
		"an owner goes":           {patch(meta(object{"ownerReferences": list(object{"uid": "1"}, object{"uid": "2"})}), meta(object{"ownerReferences": list(object{"uid": "1"})})), true, true},
	} {
		if got := Removes(tc.effect); got != tc.removes {
			t.Errorf("%s: a removal: %v", name, got)
		}
		if got := Shrinks(tc.effect); got != tc.shrinks {
			t.Errorf("%s: takes something away: %v", name, got)
		}
	}
}

// TestChanges: the fields of an effect, with the items of lists by name.
func TestChanges(t *testing.T) {
	t.Parallel()
	condition := func(name, status string) any { return object{"type": name, "status": status} }
	e := patch(
		object{"a": "1", "same": "x", "c": []any{condition("A", "True"), condition("B", "True"), condition("C", "True")}},
		object{"a": nil, "same": "x", "d": object{"e": "f"}, "c": []any{condition("A", "True"), condition("B", "False"), condition("D", "True")}})
	var got []string
	for _, c := range changes(e) {
		got = append(got, c.path)
	}
	want := []string{"a", "c[type=B].status", "c[type=C]", "c[type=D]", "d.e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestWindow: what is older than the window does not count, and what is taken
// back neither.
func TestWindow(t *testing.T) {
	t.Parallel()
	var w window
	w.resize(time.Minute)
	for i := range 10 {
		w.add(noon.Add(time.Duration(i)*5*time.Second), 1)
	}
	w.add(noon.Add(5*time.Second), -1)
	for _, tc := range []struct {
		after time.Duration
		want  int64
	}{{45 * time.Second, 9}, {59 * time.Second, 9}, {61 * time.Second, 8}, {71 * time.Second, 7}, {106 * time.Second, 0}, {time.Hour, 0}} {
		if got := w.count(noon.Add(tc.after)); got != tc.want {
			t.Errorf("after %s: %d, want %d", tc.after, got, tc.want)
		}
	}
	w.add(noon, -1) // long gone
	if got := w.count(noon.Add(2 * time.Hour)); got != 0 {
		t.Errorf("in the end %d", got)
	}
}

// TestParseLimit: the form of a limit in flags.
func TestParseLimit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*plan.Limit{
		"none":              nil,
		"100 per 1m":        {PerWindow: 100, Window: time.Minute, Input: -1},
		"0 per 10s":         {PerWindow: 0, Window: 10 * time.Second, Input: -1},
		"25% per 1h":        {PerWindow: 25, Window: time.Hour, Input: -1, PerCentOf: "objects"},
		"25% or 10 per 90s": {PerWindow: 25, Window: 90 * time.Second, Input: -1, PerCentOf: "objects", AtLeast: 10},
	} {
		got, err := ParseLimit(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
		if got != nil {
			if again, err := ParseLimit(got.String()); err != nil || !cmp.Equal(again, got) {
				t.Errorf("%q is written as %q, which is %v, %v", text, got, again, err)
			}
		}
	}
	for _, text := range []string{"100", "-1 per 1m", "ten per 1m", "100 per 1ms", "100 per 25h", "100 per soon", "9999999999 per 1m"} {
		if got, err := ParseLimit(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

// TestAdmitAllocatesNothing for what writes nothing.
func TestAdmitAllocatesNothing(t *testing.T) {
	p := New(DefaultSettings(), nil).Policy("p")
	p.Adopt(&plan.Policy{Name: "p", Revision: "1"})
	key := eval.Key{Name: "a"}
	if n := testing.AllocsPerRun(100, func() {
		p.Apart(key)
		p.Wait(key, noon)
		p.Settle(p.Admit(Request{Key: key, Now: noon}), nil)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// ten is a world of ten objects.
type ten struct{ World }

func (ten) Size(int) int  { return 10 }
func (ten) Suspect() bool { return false }

// TestPauseOfALimit: a pause names the limit and the commands that end it.
func TestPauseOfALimit(t *testing.T) {
	t.Parallel()
	limit := plan.Limit{PerWindow: 40, PerCentOf: plan.ObjectsOfPolicy, Input: -1, Window: time.Minute}
	b := New(Settings{Default: plan.Limits{Changes: &limit}}, nil)
	p := b.Policy("s/p")
	p.Adopt(&plan.Policy{Set: "s", Name: "p", Revision: "1"})
	for i := range 10 {
		e := patch(object{}, object{"a": int64(i)})
		p.Settle(p.Admit(Request{Key: eval.Key{Namespace: "ns", Name: "a"}, Now: noon, World: ten{}, Effects: []*eval.Effect{e}}), nil)
	}
	pauses, news := b.Pauses("s/p"), b.News()
	if want := "it wanted more than 4 writes within 1m0s, which is its limit, 40% of objects; the first"; len(pauses) != 1 || !strings.Contains(pauses[0].Message, want) {
		t.Errorf("want %q, got %+v", want, pauses)
	}
	const next = "; edict resume s lets it go on, edict rollback s takes its last edit back, if it was edited"
	if len(news) != 1 || !strings.HasSuffix(news[0].Text, next) {
		t.Errorf("want %q, got %+v", next, news)
	}
}

// TestPauseOfFewObjects: where the percentage comes to less than the lowest limit, the
// pause names that.
func TestPauseOfFewObjects(t *testing.T) {
	t.Parallel()
	limit := plan.Limit{PerWindow: 40, PerCentOf: plan.ObjectsOfPolicy, Input: -1, AtLeast: 6, Window: time.Minute}
	b := New(Settings{Default: plan.Limits{Changes: &limit}}, nil)
	p := b.Policy("p")
	p.Adopt(&plan.Policy{Name: "p", Revision: "1"})
	for i := range 10 {
		e := patch(object{}, object{"a": int64(i)})
		p.Settle(p.Admit(Request{Key: eval.Key{Namespace: "ns", Name: "a"}, Now: noon, World: ten{}, Effects: []*eval.Effect{e}}), nil)
	}
	const want = "more than 6 writes within 1m0s, which is its limit, 40% of objects but at least 6; the first"
	if pauses := b.Pauses("p"); len(pauses) != 1 || !strings.Contains(pauses[0].Message, want) {
		t.Errorf("want %q, got %+v", want, pauses)
	}
}
