package reconcile

import (
	"testing"

	"github.com/edict-dev/edict/engine/eval"
)

// TestKeyStates: a key of which nothing is known any more takes no memory, also when it was
// forgotten while it was being decided about.
func TestKeyStates(t *testing.T) {
	t.Parallel()
	key := eval.Key{Name: "a"}
	for name, tc := range map[string]struct {
		do   func(keyStates)
		want keyState
	}{
		"never decided about": {func(keyStates) {}, keyState{}},
		"decided about":       {func(s keyStates) { s.at(key).busy = true }, keyState{busy: true}},
		"nothing came of it":  {func(s keyStates) { s.at(key).busy = true; s.end(key) }, keyState{}},
		"it is known how far it got": {func(s keyStates) {
			*s.at(key) = keyState{busy: true, last: reach{decided: true}}
			s.end(key)
		}, keyState{last: reach{decided: true}}},
		"forgotten meanwhile": {func(s keyStates) {
			*s.at(key) = keyState{memo: &eval.Memo{}, initial: true, busy: true, last: reach{decided: true}}
			s.forget(key)
		}, keyState{busy: true}},
		"forgotten, then it ended": {func(s keyStates) { s.at(key).busy = true; s.forget(key); s.end(key) }, keyState{}},
		"forgotten":                {func(s keyStates) { s.at(key).initial = true; s.forget(key) }, keyState{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := keyStates{}
			tc.do(s)
			if got := s.of(key); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			if kept := len(s) > 0; kept != (tc.want != keyState{}) {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}
