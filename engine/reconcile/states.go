package reconcile

import (
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// keyState is what a controller keeps of a key.
type keyState struct {
	// memo has what its evaluations computed; nil is that there were none.
	memo *eval.Memo
	// initial says that its object was in the first list.
	initial bool
	// takeover is when it may be decided about first, because another installation may do so
	// until then; zero is at once.
	takeover time.Time
	// busy says that it is being decided about.
	busy bool
	// last is how far the last decision got; zero is that there was none.
	last reach
	// rejected are the refused writes that the next decision leaves out, or nil.
	rejected *rejections
	// conflict is the conflict of the last decision, or zero.
	conflict conflict
	// unchanged are the writes that have changed nothing, or nil.
	unchanged *unchanged
}

// keyStates are those of all keys of a controller. A key of which nothing is known has none.
type keyStates map[eval.Key]*keyState

// of returns the state of a key; zero is that nothing is known.
func (s keyStates) of(key eval.Key) keyState {
	if k := s[key]; k != nil {
		return *k
	}
	return keyState{}
}

// at returns the state of a key, to be changed.
func (s keyStates) at(key eval.Key) *keyState {
	k := s[key]
	if k == nil {
		k = &keyState{}
		s[key] = k
	}
	return k
}

// takeInitial takes over from another revision which keys were in the first list, and from
// when on they may be decided about.
func (s keyStates) takeInitial(old keyStates) {
	for key, k := range old {
		if k.initial {
			now := s.at(key)
			now.initial, now.takeover = true, k.takeover
		}
	}
}

// end ends the decision about a key.
func (s keyStates) end(key eval.Key) {
	if k := s[key]; k != nil {
		k.busy = false
		s.tidy(key, k)
	}
}

// forget drops what is known of a key whose object is gone. That it is being decided about
// stays.
func (s keyStates) forget(key eval.Key) {
	if k := s[key]; k != nil {
		*k = keyState{busy: k.busy, takeover: k.takeover, initial: k.initial && !k.takeover.IsZero()}
		s.tidy(key, k)
	}
}

// tidy drops a state that says nothing.
func (s keyStates) tidy(key eval.Key, k *keyState) {
	if *k == (keyState{}) {
		delete(s, key)
	}
}
