package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// TestWakes: what is taken of a key after it was woken by a change, by another one and by
// the write of a policy, at one time and later.
func TestWakes(t *testing.T) {
	t.Parallel()
	key, later := eval.Key{Name: "a"}, noon.Add(time.Minute)
	created, changed := record.Wake{Reason: record.Created}, record.Wake{Reason: record.Changed}
	outside, write := brake.Cause{Known: true}, brake.Cause{Known: true, Depth: 2}
	for name, tc := range map[string]struct {
		then func(*wakes)
		want woken
	}{
		"nothing else":              {func(*wakes) {}, woken{[]record.Wake{created, changed}, write, noon}},
		"taken":                     {func(w *wakes) { w.take(key) }, woken{}},
		"taken, and tried again":    {func(w *wakes) { w.restore(key, w.take(key).cause) }, woken{cause: write}},
		"something from outside":    {func(w *wakes) { w.note([]eval.Key{key}, changed, outside, later) }, woken{[]record.Wake{created, changed, changed}, outside, noon}},
		"the first list has come":   {func(w *wakes) { w.begin() }, woken{nil, write, noon}},
		"the object is gone":        {func(w *wakes) { w.forget(key) }, woken{cause: write}},
		"gone, with no cause known": {func(w *wakes) { w.take(key); w.note([]eval.Key{key}, created, brake.Cause{}, noon); w.forget(key) }, woken{}},
	} {
		w := newWakes()
		w.note([]eval.Key{key, {Name: "b"}}, created, write, noon)
		w.note([]eval.Key{key}, changed, write, later)
		tc.then(w)
		got := w.take(key)
		if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(woken{}), cmpopts.IgnoreUnexported(brake.Cause{})); d != "" {
			t.Errorf("%s, -want +got:\n%s", name, d)
		}
		if w.of[key] != nil {
			t.Errorf("%s: something is kept", name)
		}
	}
}

// TestWakesAreFew: of very many changes the first ones are kept.
func TestWakesAreFew(t *testing.T) {
	t.Parallel()
	w, key := newWakes(), eval.Key{Name: "a"}
	for range 3 * maxWakes {
		w.note([]eval.Key{key}, record.Wake{}, brake.Cause{}, noon)
	}
	if n := len(w.take(key).changes); n != maxWakes {
		t.Errorf("%d changes are kept", n)
	}
}
