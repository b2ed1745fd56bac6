package eval

import (
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Memo keeps what evaluations of one key computed, with what each result was
// computed from. It is used by one evaluation at a time.
type Memo struct {
	policy    *plan.Policy
	serial    uint64
	now       time.Time
	leaving   bool
	inputs    []inputMemo
	variables variableMemos
	rules     reads
	settled   *settled
	targets   []Lookup
	lookups   lookups
	// kept is how many bytes the values have that are kept.
	kept int
}

// MaxMemo is how many bytes of values are kept of one key, MaxMemoAll of all keys
// of a policy, and MaxMemoProcess of all policies. What is more is not kept: it is
// computed again.
const (
	MaxMemo        = 64 << 20
	MaxMemoAll     = 128 << 20
	MaxMemoProcess = 192 << 20
)

// Kept is how many bytes the values have that the memo keeps, apart from the
// objects of the read model and from what is kept for several keys.
func (m *Memo) Kept() int { return m.kept }

// Drop ceases to keep values. What the key reads stays known.
func (m *Memo) Drop() { *m = Memo{serial: m.serial, lookups: m.lookups} }

// weigh counts what is kept, and drops it when that is more than one key may
// keep.
func (m *Memo) weigh() {
	m.kept = m.settled.bytes()
	for i, v := range m.variables.of {
		if c := m.policy.Variables[i].Collection; v == nil || c != nil && c.Shared || v.taken || !v.valid || v.value == nil {
			continue
		}
		m.kept += value.Built(v.value)
		if v.items != nil {
			m.kept += itemBytes * len(v.items.items)
		}
	}
	if m.kept > MaxMemo {
		m.Drop()
	}
}

// itemBytes is what is kept of an item of a collection beside its value.
const itemBytes = 256

type variableMemo struct {
	valid   bool
	checked uint64
	object  value.Value
	held    reads
	value   value.Value
	err     error
	items   *collectionMemo
	// shared is what other keys may have of it, or have given; nil is nothing. taken says
	// that another has given it, and counts it.
	shared *sharedVariable
	taken  bool
}

// variableMemos are those of the variables that a key has needed so far: most keys need
// few of them.
type variableMemos struct {
	of []*variableMemo
	// free is room for the next ones.
	free []variableMemo
}

// variablesAtOnce is for how many variables room is made together, at most.
const variablesAtOnce = 4

// at returns the memo of a variable.
func (m *variableMemos) at(i int) *variableMemo {
	if m.of[i] == nil {
		if len(m.free) == 0 {
			m.free = make([]variableMemo, min(variablesAtOnce, len(m.of)))
		}
		m.of[i], m.free = &m.free[0], m.free[1:]
	}
	return m.of[i]
}

type inputMemo struct {
	valid    bool
	checked  uint64
	overlaid bool
	object   value.Value
	held     reads
	table    world.Mark
	members  []*member
	// probes are the key's side of an exact index.
	probes texts
	value  value.Value
	err    error
	// shared is what other keys may have of it, or have given; nil is nothing.
	shared *sharedInput
}

// Carry returns a memo for another revision of the policy that knows nothing but
// what the key reads: rename gives the place of an input or target there, or -1.
func (m *Memo) Carry(rename func(at Lookup) int) *Memo {
	out := &Memo{}
	for at := range m.lookups.all() {
		if at.Input = rename(at); at.Input >= 0 {
			out.lookups.add(at, 1)
		}
	}
	return out
}

// Release gives back everything that the key was reading; Lookups tells what.
func (m *Memo) Release() {
	m.lookups.end(&m.lookups)
	*m = Memo{serial: m.serial, lookups: lookups{changes: m.lookups.changes}}
}
