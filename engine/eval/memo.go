package eval

import (
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
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

// Lookup is something that evaluations of a key began or ceased to read: an
// entry of an input that is a map, the whole of an input, or an object that
// an action named outright.
type Lookup struct {
	Input int
	Key   string
	Whole bool
	// Target says that Input counts the policy's targets, and Key is made by
	// TargetKey.
	Target bool
	// Ended says that it is no longer read.
	Ended bool
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

// Lookups returns the entries that the key began or ceased to read since the
// last call, in order.
func (m *Memo) Lookups() []Lookup {
	changes := m.lookups.changes
	m.lookups.changes = nil
	return changes
}

// TargetKey names an object within its kind.
func TargetKey(namespace, name string) string { return namespace + "\x00" + name }

// TargetID returns the object of a kind that a TargetKey names.
func TargetID(gvk schema.GVK, key string) world.ID {
	namespace, name, _ := strings.Cut(key, "\x00")
	return world.ID{GVK: gvk, Namespace: namespace, Name: name}
}

// memoReader reads through a memo.
type memoReader struct {
	ev   *evaluation
	memo *Memo
	// scratch has the holders that are being filled.
	scratch *scratch
	rules   *holder
	// targets are the objects that actions named.
	targets []Lookup
	// views are those handed out last, of inputs and of variables.
	views [2][]*view
	// computed says that something was computed.
	computed bool
}

// begin begins an evaluation. A memo of another policy, or from a later time, tells
// nothing; what it was looking at is given back.
func (r *memoReader) begin(ev *evaluation, m *Memo) {
	if m.policy != ev.in.Policy || ev.in.Now.Before(m.now) || m.leaving != ev.in.Leaving {
		old := m.lookups
		*m = Memo{policy: ev.in.Policy, serial: m.serial, leaving: ev.in.Leaving, inputs: make([]inputMemo, len(ev.in.Policy.Inputs)), variables: variableMemos{of: make([]*variableMemo, len(ev.in.Policy.Variables))}}
		m.lookups.changes = old.changes
		m.lookups.end(&old)
	}
	m.now = ev.in.Now
	m.serial++
	r.ev, r.memo, r.scratch = ev, m, ev.scratch
	r.rules = r.push()
}

// top is what records now; when the evaluation has ended, nothing that stays.
func (r *memoReader) top() *holder {
	if r.scratch == nil {
		return &holder{}
	}
	return r.scratch.stack[len(r.scratch.stack)-1]
}

// push begins to record what a result is computed from, until pop.
func (r *memoReader) push() *holder {
	h := r.scratch.holder()
	r.scratch.stack = append(r.scratch.stack, h)
	return h
}

func (r *memoReader) pop() { r.scratch.stack = r.scratch.stack[:len(r.scratch.stack)-1] }

func (r *memoReader) changed() { r.memo.serial++ }

func (r *memoReader) flip(at time.Time) { r.top().flip(at) }

func (r *memoReader) recalled(name string, v value.Value) { r.top().recall(name, v) }

func (r *memoReader) saw(slot plan.Slot, v value.Value) { r.top().whole(slot, v) }

func (r *memoReader) looked(slot plan.Slot, key string, v value.Value) {
	h := r.top()
	if h.rows != nil {
		h.rows.looked(slot, key, v)
		return
	}
	h.entry(slot, key, v)
}

func (r *memoReader) view(slot plan.Slot, m *value.Map) value.Value {
	list := &r.views[0]
	if slot.Kind == plan.VariableSlot {
		list = &r.views[1]
	}
	if *list == nil {
		*list = make([]*view, max(len(r.ev.in.Policy.Inputs), len(r.ev.in.Policy.Variables)))
	}
	known := (*list)[slot.Index]
	if known == nil || known.Map != m {
		known = &view{Map: m, reader: r, slot: slot}
		(*list)[slot.Index] = known
	}
	return known
}

// done replaces what the rules of the last evaluation read.
func (r *memoReader) done() {
	for _, t := range r.targets {
		r.memo.lookups.add(t, 1)
	}
	for _, t := range r.memo.targets {
		r.memo.lookups.add(t, -1)
	}
	r.memo.targets = r.targets
	r.replace(&r.memo.rules, r.rules)
	r.settle()
	r.noteReads()
	r.memo.weigh()
}

func (r *memoReader) named(target int, key string) {
	r.targets = append(r.targets, Lookup{Input: target, Key: key, Target: true})
}

// replace sets what a result was computed from: what a holder that was pushed has
// recorded. That one is free then.
func (r *memoReader) replace(old *reads, now *holder) {
	r.memo.lookups.count(now.wholes, now.entries, 1)
	r.memo.lookups.count(old.wholes, old.entries, -1)
	old.take(now)
	r.scratch.free(now)
}

// variable implements reader.
func (r *memoReader) variable(i int) (value.Value, error) {
	m, v := r.memo.variables.at(i), r.ev.in.Policy.Variables[i]
	if m.valid && m.checked == r.memo.serial {
		return m.value, m.err
	}
	if !m.valid || passing(m.err) || !(checking{r.ev}).still(&m.held, m.object, v.ObjectMask) {
		r.compute(v, m)
	}
	m.checked = r.memo.serial
	r.ev.noteFlip(m.held.until)
	r.ev.noteVariable(v.Name, m.value, m.err)
	return m.value, m.err
}

func (r *memoReader) compute(v *plan.Variable, m *variableMemo) {
	h := r.push()
	r.computed = true
	var out value.Value
	var err error
	if v.Collection != nil {
		out, err = r.collection(v, m, h)
	} else {
		out, err = r.plain(v, m, h)
	}
	r.pop()
	if err == nil && m.err == nil && m.value != nil && !identical(out, m.value) && value.Alike(out, m.value) {
		out = m.value // the same again: whoever used it stays valid
	}
	r.replace(&m.held, h)
	m.valid, m.object, m.value, m.err = true, r.ev.objectValue(), out, err
}

// Release gives back everything that the key was reading; Lookups tells what.
func (m *Memo) Release() {
	m.lookups.end(&m.lookups)
	*m = Memo{serial: m.serial, lookups: lookups{changes: m.lookups.changes}}
}
