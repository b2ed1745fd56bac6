package writer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

func owned(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields)}
}

func labelBody(run any) *value.Map {
	return body(map[string]any{"metadata": map[string]any{"labels": map[string]any{"run": run}}})
}

func body(plain map[string]any) *value.Map {
	out := value.Empty
	for name, field := range plain {
		v := value.Null
		switch field := field.(type) {
		case map[string]any:
			v = body(field)
		case nil:
		default:
			v = value.Freeze(field, nil, value.KeepAll)
		}
		out = out.With(name, v)
	}
	return out
}

const ownsLabel = `{"f:metadata":{"f:labels":{".":{},"f:run":{}}}}`

// TestRivals: somebody is told of who owns what a policy writes, each time that
// it writes the same again.
func TestRivals(t *testing.T) {
	t.Parallel()
	status := func(n int) *value.Map {
		return body(map[string]any{"status": map[string]any{"count": n, "at": time.Unix(int64(n), 0).UTC().Format(time.RFC3339)}})
	}
	steady := func(int) *value.Map { return labelBody("") }
	for name, tc := range map[string]struct {
		body  func(n int) *value.Map
		sub   string
		owner metav1.ManagedFieldsEntry
		pause time.Duration
		told  int
	}{
		"another manager":            {steady, "", owned("other", "", ownsLabel), 10 * time.Second, 1},
		"a label that is removed":    {func(int) *value.Map { return labelBody(nil) }, "", owned("other", "", ownsLabel), 10 * time.Second, 1},
		"times and counters":         {status, "status", owned("other", "status", `{"f:status":{"f:count":{}}}`), 10 * time.Second, 1},
		"itself":                     {steady, "", owned("edict/p", "", ownsLabel), 10 * time.Second, 0},
		"another field":              {steady, "", owned("other", "", `{"f:metadata":{"f:labels":{"f:walk":{}}}}`), 10 * time.Second, 0},
		"another subresource":        {steady, "", owned("other", "status", ownsLabel), 10 * time.Second, 0},
		"another decision":           {func(n int) *value.Map { return labelBody(string(rune('a' + n))) }, "", owned("other", "", ownsLabel), 10 * time.Second, 0},
		"now and then":               {steady, "", owned("other", "", ownsLabel), 6 * time.Minute, 0},
		"faster than it is looked":   {steady, "", owned("other", "", ownsLabel), 50 * time.Millisecond, 0},
		"nobody who can be made out": {steady, "", owned("other", "", `[`), 10 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, now := 0, time.Unix(1000, 0)
			r := newRivals(func(rival) { told++ })
			r.now = func() time.Time { return now }
			p := apply.Patch{Target: world.ID{GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}, Name: "a"}, Subresource: tc.sub, Policy: "p"}
			for n := range 6 {
				p.Body = tc.body(n)
				r.patching(t.Context(), p, func() []metav1.ManagedFieldsEntry { return []metav1.ManagedFieldsEntry{tc.owner} })
				now = now.Add(tc.pause)
			}
			want := ""
			if tc.told > 0 {
				want = "other writes what the policy p writes, such as in Node a: stop one of the two"
			}
			if diff := cmp.Diff(want, r.of("p")); diff != "" || told != tc.told {
				t.Errorf("told %d times, want %d (- want, + got):\n%s", told, tc.told, diff)
			}
			now = now.Add(rivalPause)
			if got := r.of("p"); got != "" {
				t.Errorf("long after: %s", got)
			}
		})
	}
}

// TestRivalsAreAskedForRarely: an object is read only when the policy writes the
// same again.
func TestRivalsAreAskedForRarely(t *testing.T) {
	t.Parallel()
	asked, now := 0, time.Unix(1000, 0)
	r := newRivals(func(rival) {})
	r.now = func() time.Time { return now }
	for _, step := range []struct {
		value string
		want  int
	}{{"a", 0}, {"b", 0}, {"b", 1}, {"b", 1}, {"c", 1}} {
		r.patching(t.Context(), apply.Patch{Policy: "p", Body: labelBody(step.value)}, func() []metav1.ManagedFieldsEntry { asked++; return nil })
		if asked != step.want {
			t.Errorf("after %s asked %d times, want %d", step.value, asked, step.want)
		}
		now = now.Add(time.Millisecond)
	}
}

// TestEssence: patches that differ are told apart, unless they do so in times and
// numbers alone.
func TestEssence(t *testing.T) {
	t.Parallel()
	of := func(x any) uint64 { return essence(body(map[string]any{"x": x})) }
	at := func(text string) any { return []any{text} }
	seen := map[uint64]any{}
	for _, v := range []any{nil, true, false, "", "a", "ab", []any{}, []any{"a", "b"}, []any{"ab"}, []any{"a", []any{"b"}}, map[string]any{"a": "b"}, "2026-03-01T25:00:00Z", 1} {
		if other, ok := seen[of(v)]; ok {
			t.Errorf("%v and %v are the same", v, other)
		}
		seen[of(v)] = v
	}
	if of(1) != of(2.5) || of(at("2026-03-01T12:00:00Z")) != of(at("2026-03-01T12:00:00.123+01:00")) {
		t.Error("a counter or a time tells patches apart")
	}
}
