package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// TestWakes: what is taken of a key after it was woken by a change, and by another one
// later.
func TestWakes(t *testing.T) {
	t.Parallel()
	key, later := eval.Key{Name: "a"}, noon.Add(time.Minute)
	created, changed := record.Wake{Reason: record.Created}, record.Wake{Reason: record.Changed}
	both := woken{[]record.Wake{created, changed}, noon}
	for name, tc := range map[string]struct {
		then func(*wakes)
		want woken
	}{
		"nothing else":            {func(*wakes) {}, both},
		"taken":                   {func(w *wakes) { w.take(key) }, woken{}},
		"the first list has come": {func(w *wakes) { w.begin() }, woken{nil, noon}},
		"the object is gone":      {func(w *wakes) { w.forget(key) }, woken{}},
	} {
		w := newWakes()
		w.note([]eval.Key{key, {Name: "b"}}, created, noon)
		w.note([]eval.Key{key}, changed, later)
		tc.then(w)
		if d := cmp.Diff(tc.want, w.take(key), cmp.AllowUnexported(woken{})); d != "" {
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
		w.note([]eval.Key{key}, record.Wake{}, noon)
	}
	if n := len(w.take(key).changes); n != maxWakes {
		t.Errorf("%d changes are kept", n)
	}
}
