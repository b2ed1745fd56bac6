package eval

import (
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

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
