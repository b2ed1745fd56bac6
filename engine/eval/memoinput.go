package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// input implements reader: what was found last time is brought up to date
// with the objects that changed since.
func (r *memoReader) input(i int) (value.Value, error) {
	m, in := &r.memo.inputs[i], r.ev.in.Policy.Inputs[i]
	if m.valid && m.checked == r.memo.serial {
		return m.value, m.err
	}
	table := r.ev.in.World.Table(in.Source)
	if in.Off {
		table = nil
	}
	r.refreshInput(in, m, table)
	m.checked = r.memo.serial
	r.ev.noteFlip(m.held.until)
	return m.value, m.err
}

func (r *memoReader) refreshInput(in *plan.Input, m *inputMemo, table *world.Table) {
	overlaid := r.ev.overlay.touches(in.Source.GVK)
	still := m.valid && m.err == nil && r.still(&m.held, m.object, in.ObjectMask)
	if still && !overlaid && !m.overlaid && r.updated(in, m, table) {
		return
	}
	r.computed = true
	next := inputMemo{valid: true, overlaid: overlaid, object: r.ev.objectValue(), table: table.Mark()}
	if still && in.Shape != plan.One && m.held.until.IsZero() {
		r.more(&m.held, r.gathered(in, table, &next, m))
	} else {
		r.replace(&m.held, r.gathered(in, table, &next, nil))
	}
	if next.err == nil && m.valid && m.err == nil && sameMembers(m.members, next.members) && identicalOrEqual(in, m.value, next.value) {
		next.value = m.value
	}
	next.held = m.held
	*m = next
}

// updated reports whether an input is up to date, or can be brought up to date by the
// changes of its table.
func (r *memoReader) updated(in *plan.Input, m *inputMemo, table *world.Table) bool {
	if table.Mark() != m.table {
		r.computed = true
		if !r.update(in, m, table) {
			return false
		}
		m.table = table.Mark()
	}
	return true
}

// gathered is gather with what it has read.
func (r *memoReader) gathered(in *plan.Input, table *world.Table, m, older *inputMemo) *holder {
	h := r.push()
	if err := r.ev.certain(in, func() { r.gather(in, table, m, older) }); err != nil {
		m.members, m.value, m.err = nil, nil, err
	}
	r.pop()
	return h
}

// more adds what was read now to what was read before.
func (r *memoReader) more(old *reads, now *holder) {
	wholes, entries := old.join(now)
	r.memo.lookups.count(wholes, entries, 1)
	r.scratch.free(now)
}

// identicalOrEqual keeps the identity of a value whose members are the same.
func identicalOrEqual(in *plan.Input, old, now value.Value) bool {
	if in.Shape == plan.One {
		return identical(old, now)
	}
	return old != nil && value.Alike(old, now)
}

func sameMembers(a, b []*member) bool {
	return slices.EqualFunc(a, b, func(x, y *member) bool { return identical(x.value, y.value) && x.key == y.key })
}

// gather finds the members. Those that were members and are as they were need not be
// judged again, if an older memo is given: what judging them has read is as it was.
func (r *memoReader) gather(in *plan.Input, table *world.Table, m, older *inputMemo) {
	if in.Shape == plan.One {
		m.value = value.Null
		if table != nil {
			m.value, m.err = r.ev.one(in, table)
		}
		return
	}
	var probes []string
	if indexed(in, table) {
		probes = r.ev.probes(in)
		if in.Join.Exact {
			m.probes = textsOf(probes)
		}
	}
	candidates := r.ev.candidates(in, table, probes, m.probes)
	key, shared := r.sharing(in, m, len(candidates))
	var others *sharedInput
	if shared {
		if others = r.ev.in.Shared.inputs.get(key); others != nil && others.table == m.table {
			r.ev.meter.Grow(len(candidates))
			m.take(others)
			return
		}
	}
	g := gathering{r: r, in: in, table: table, probes: m.probes, found: m.probes != nil && !m.overlaid}
	switch {
	case older != nil:
		g.known = older.members
	case others != nil:
		g.known = others.members
	}
	m.members = g.members(candidates)
	m.value, m.err = inputValue(in, m.members)
	if shared {
		r.share(key, m, m.table, others)
	}
}

// judge reports whether an object is a member, by the index where that is exact.
func (r *memoReader) judge(in *plan.Input, table *world.Table, o *world.Object, probes texts, f *frame) *member {
	if probes != nil {
		return r.ev.admit(in, table, o, probes, f)
	}
	return r.ev.judge(in, o, f)
}

// update applies the changes since the input was last looked at; false means
// that they cannot be told.
func (r *memoReader) update(in *plan.Input, m *inputMemo, table *world.Table) bool {
	if in.Shape == plan.One || !m.held.until.IsZero() { // which objects it depends on is not known
		return false
	}
	key, shared := r.sharing(in, m, len(m.members))
	if shared {
		m.adopt(r.ev.in.Shared.inputs.get(key), table)
	}
	changes, ok := table.Since(m.table)
	if !ok || len(changes) == 0 {
		return ok
	}
	r.ev.meter.Grow(len(changes))
	if err := r.ev.certain(in, func() { r.apply(in, m, table, changes) }); err != nil {
		m.members, m.value, m.err = nil, nil, err
		return true
	}
	if shared {
		r.share(key, m, table.Mark(), m.shared)
	}
	return true
}

// apply judges the objects that have changed.
func (r *memoReader) apply(in *plan.Input, m *inputMemo, table *world.Table, changes []world.Change) {
	u := inputUpdate{in: in, members: m.members, value: m.value}
	for _, c := range changes {
		u.apply(c, r.now(in, m, table, c))
	}
	if u.touched {
		m.members = u.members
		m.value, m.err = u.result()
	}
}

// now judges a changed object. What judging reads of the key's side was mostly read
// before, but for times.
func (r *memoReader) now(in *plan.Input, m *inputMemo, table *world.Table, c world.Change) *member {
	o := table.Get(c.Namespace, c.Name)
	if o == nil {
		return nil
	}
	h := r.push()
	out := r.judge(in, table, o, m.probes, r.ev.frame())
	r.pop()
	r.more(&m.held, h)
	return out
}

// inputUpdate is an input's members and value while changes are applied.
type inputUpdate struct {
	in      *plan.Input
	members []*member
	value   value.Value
	touched bool
	rebuild bool
	// swapped counts the members that were replaced.
	swapped int
}

func (u *inputUpdate) apply(c world.Change, now *member) {
	at, found := slices.BinarySearchFunc(u.members, c, func(m *member, c world.Change) int {
		return compareNames(m.object.Namespace, m.object.Name, c.Namespace, c.Name)
	})
	switch {
	case !found && now == nil:
		return
	case found && now != nil && u.members[at].object == now.object:
		return
	}
	if !u.touched {
		u.members = slices.Clone(u.members)
		u.touched = true
	}
	switch {
	case !found:
		u.members = slices.Insert(u.members, at, now)
		u.rebuild = true
	case now == nil:
		u.members = slices.Delete(u.members, at, at+1)
		u.rebuild = true
	default:
		u.swap(at, now)
	}
}

// swap replaces a member. A keyed map changes in one entry then, which costs a copy of
// pointers; every other shape, and a map in which several change, is put together again.
func (u *inputUpdate) swap(at int, now *member) {
	was := u.members[at]
	u.members[at] = now
	m, isMap := u.value.(*value.Map)
	if u.swapped++; u.in.Shape == plan.Keyed && isMap && was.key == now.key && !u.rebuild && u.swapped <= fewSwaps {
		u.value = m.With(now.key, now.value)
		return
	}
	u.rebuild = true
}

// fewSwaps is how many entries are changed one by one.
const fewSwaps = 4

func (u *inputUpdate) result() (value.Value, error) {
	if u.rebuild {
		return inputValue(u.in, u.members)
	}
	return u.value, nil
}

func compareNames(ns1, n1, ns2, n2 string) int {
	switch {
	case ns1 != ns2 && ns1 < ns2, ns1 == ns2 && n1 < n2:
		return -1
	case ns1 == ns2 && n1 == n2:
		return 0
	}
	return 1
}
