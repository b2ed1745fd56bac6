package eval

import (
	"slices"
	"sync"
	"weak"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// sharedVariable is what a variable comes to for all keys that find the same in what it
// reads. It is not changed.
type sharedVariable struct {
	wholes  []wholeRead
	entries []entryRead
	value   value.Value
}

// sharedVariables are the latest values of variables, as long as a memo uses them. It is
// safe for concurrent use; its zero value is empty.
type sharedVariables struct {
	mu    sync.Mutex
	known map[*plan.Variable][]weak.Pointer[sharedVariable] // the latest first
}

// worthSharing is from what cost on it is worth while to look for another key that has
// computed a variable, and mostShared how many values of one are looked at.
const (
	worthSharing = 1000
	mostShared   = 4
)

// of returns the values that are known of a variable.
func (s *sharedVariables) of(v *plan.Variable) (out []*sharedVariable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.known[v] {
		if known := one.Value(); known != nil {
			out = append(out, known)
		}
	}
	return out
}

func (s *sharedVariables) put(v *plan.Variable, one *sharedVariable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[*plan.Variable][]weak.Pointer[sharedVariable]{}
	}
	list := slices.DeleteFunc(s.known[v], func(p weak.Pointer[sharedVariable]) bool { return p.Value() == nil })
	s.known[v] = slices.Insert(list[:min(len(list), mostShared-1)], 0, weak.Make(one))
}

// plain computes a variable, or takes what another key has computed of the same. What it
// reads is recorded either way.
func (r *memoReader) plain(v *plan.Variable, m *variableMemo, h *holder) (value.Value, error) {
	m.shared, m.taken = nil, false
	if !v.Shared {
		return computation{r.ev}.plainVariable(v, r.ev.frame())
	}
	for _, one := range r.ev.in.Shared.variables.of(v) {
		if (checking{r.ev}).sameEntries(one.entries) && (checking{r.ev}).sameWholes(one.wholes) {
			h.wholes, h.entries = append(h.wholes, one.wholes...), append(h.entries, one.entries...)
			m.shared, m.taken = one, true
			return one.value, nil
		}
	}
	before := r.ev.meter.Spent()
	out, err := computation{r.ev}.plainVariable(v, r.ev.frame())
	// What depends on time or on what is remembered does not hold for other keys.
	if err == nil && r.ev.meter.Spent()-before >= worthSharing && h.until.IsZero() && len(h.recalls) == 0 && len(h.mapped) == 0 {
		m.shared = &sharedVariable{wholes: slices.Clone(h.wholes), entries: slices.Clone(h.entries), value: out}
		r.ev.in.Shared.variables.put(v, m.shared)
	}
	return out, err
}
