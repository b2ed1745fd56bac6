package eval

import (
	"strconv"
	"strings"
	"sync"
	"weak"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// sharedInput is what an input comes to for all keys that find the same members. It is not
// changed.
type sharedInput struct {
	table   world.Mark
	members []*member
	value   value.Value
	err     error
}

// inputKey says for which keys an input is the same: those of a namespace, if it is
// restricted to theirs, that look for the same under its index: for so many probes.
type inputKey struct {
	input             *plan.Input
	namespace, probes string
	count             int
}

// sharedInputs are the latest of each kind, as long as a memo uses them. It is safe for
// concurrent use; its zero value is empty.
type sharedInputs struct {
	mu    sync.Mutex
	known map[inputKey]weak.Pointer[sharedInput]
	// full is at how many entries those that nobody uses are removed.
	full int
}

// get returns what is known of an input; nil is nothing.
func (s *sharedInputs) get(key inputKey) *sharedInput {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[key].Value()
}

// put replaces what is known of an input.
func (s *sharedInputs) put(key inputKey, of *sharedInput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[inputKey]weak.Pointer[sharedInput]{}
	}
	s.known[key] = weak.Make(of)
	if len(s.known) > max(s.full, minFull) {
		s.sweep()
		s.full = 2 * len(s.known)
	}
}

// minFull is how many entries are kept before any is removed.
const minFull = 64

func (s *sharedInputs) sweep() {
	for key, of := range s.known {
		if of.Value() == nil {
			delete(s.known, key)
		}
	}
}

// manyMembers is how many objects make it worth while to look for another key that has
// found them already.
const manyMembers = 32

// sharing returns what other keys find the same value of an input of n objects by; ok is
// false when they cannot, or when it is not worth while.
func (x refreshing) sharing(m *inputMemo, n int) (key inputKey, ok bool) {
	if !x.in.Shared || n < manyMembers || m.overlaid || x.in.Where != nil && m.probes == nil || len(m.probes) > fewProbes {
		return inputKey{}, false
	}
	key = inputKey{input: x.in, probes: m.probes.joined(), count: len(m.probes)}
	if x.in.Own {
		key.namespace = x.r.ev.in.Key.Namespace
	}
	return key, true
}

// adopt takes what another key has found in a later version of the table than the memo is
// of, but for one that is later than what this key sees.
func (m *inputMemo) adopt(of *sharedInput, table *world.Table) {
	if of != nil && of.table.After(m.table) && !of.table.After(table.Mark()) {
		m.take(of)
	}
}

// take takes what another key has found.
func (m *inputMemo) take(of *sharedInput) {
	m.shared, m.table, m.members, m.value, m.err = of, of.table, of.members, of.value, of.err
}

// share lets other keys have what was found. What was known before keeps its identity if it
// is the same, and nothing is shared that may be cut short by the limits of this evaluation.
func (x refreshing) share(key inputKey, m *inputMemo, at world.Mark, old *sharedInput) {
	if x.r.ev.passed != nil || !x.r.ev.meter.Within() {
		return
	}
	if old != nil && old.err == nil && m.err == nil && identicalOrEqual(key.input, old.value, m.value) {
		m.value = old.value
	}
	m.shared = &sharedInput{table: at, members: m.members, value: m.value, err: m.err}
	x.r.ev.in.Shared.inputs.put(key, m.shared)
}

// joined is one text for the set, which no other of as many texts has.
func (t texts) joined() string {
	if len(t) == 1 {
		return t[0]
	}
	var out strings.Builder
	for _, text := range t {
		out.WriteString(strconv.Itoa(len(text)) + " " + text)
	}
	return out.String()
}
