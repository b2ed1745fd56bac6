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
	refreshing{r: r, in: in, table: table}.refreshInput(m)
	m.checked = r.memo.serial
	r.ev.noteFlip(m.held.until)
	return m.value, m.err
}

// refreshing brings an input of a key up to date.
type refreshing struct {
	r     *memoReader
	in    *plan.Input
	table *world.Table
}

func (x refreshing) refreshInput(m *inputMemo) {
	overlaid := x.r.ev.overlay.touches(x.in.Source.GVK)
	still := m.valid && m.err == nil && checking{x.r.ev}.still(&m.held, m.object, x.in.ObjectMask)
	if still && !overlaid && !m.overlaid && x.updated(m) {
		return
	}
	x.r.computed = true
	next := inputMemo{valid: true, overlaid: overlaid, object: x.r.ev.objectValue(), table: x.table.Mark()}
	if still && x.in.Shape != plan.One && m.held.until.IsZero() {
		x.r.more(&m.held, x.gathered(&next, m))
	} else {
		x.r.replace(&m.held, x.gathered(&next, nil))
	}
	if next.err == nil && m.valid && m.err == nil && sameMembers(m.members, next.members) && identicalOrEqual(x.in, m.value, next.value) {
		next.value = m.value
	}
	next.held = m.held
	*m = next
}

// updated reports whether an input is up to date, or can be brought up to date by the
// changes of its table.
func (x refreshing) updated(m *inputMemo) bool {
	if x.table.Mark() != m.table {
		x.r.computed = true
		if !x.update(m) {
			return false
		}
		m.table = x.table.Mark()
	}
	return true
}

// gathered is gather with what it has read.
func (x refreshing) gathered(m, older *inputMemo) *holder {
	h := x.r.push()
	if err := x.r.ev.certain(x.in, func() { x.gather(m, older) }); err != nil {
		m.members, m.value, m.err = nil, nil, err
	}
	x.r.pop()
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
func (x refreshing) gather(m, older *inputMemo) {
	if x.in.Shape == plan.One {
		m.value = value.Null
		if x.table != nil {
			m.value, m.err = search{ev: x.r.ev, in: x.in, table: x.table}.one()
		}
		return
	}
	var probes []string
	if indexed(x.in, x.table) {
		probes = search{ev: x.r.ev, in: x.in}.probes()
		if x.in.Join.Exact {
			m.probes = textsOf(probes)
		}
	}
	s := search{ev: x.r.ev, in: x.in, table: x.table}
	candidates := s.candidates(probes, m.probes)
	if foreign := func(o *world.Object) bool { return !s.kept(o) }; x.in.Kept && slices.ContainsFunc(candidates, foreign) {
		candidates = slices.DeleteFunc(slices.Clone(candidates), foreign)
	}
	key, shared := x.sharing(m, len(candidates))
	var others *sharedInput
	if shared {
		if others = x.r.ev.in.Shared.inputs.get(key); others != nil && others.table == m.table {
			x.r.ev.meter.Grow(len(candidates))
			m.take(others)
			return
		}
	}
	g := gathering{r: x.r, in: x.in, table: x.table, probes: m.probes, found: m.probes != nil && !m.overlaid}
	switch {
	case older != nil:
		g.known = older.members
	case others != nil:
		g.known = others.members
	}
	m.members = g.members(candidates)
	m.value, m.err = inputValue(x.in, m.members)
	if shared {
		x.share(key, m, m.table, others)
	}
}

// judge reports whether an object is a member, by the index where that is exact.
func (x refreshing) judge(o *world.Object, probes texts, f *frame) *member {
	if s := (search{ev: x.r.ev, in: x.in, table: x.table}); probes != nil {
		if !s.kept(o) {
			return nil
		}
		return s.admit(o, probes, f)
	}
	return search{ev: x.r.ev, in: x.in}.judge(o, f)
}

// update applies the changes since the input was last looked at; false means
// that they cannot be told.
func (x refreshing) update(m *inputMemo) bool {
	if x.in.Shape == plan.One || !m.held.until.IsZero() { // which objects it depends on is not known
		return false
	}
	key, shared := x.sharing(m, len(m.members))
	if shared {
		m.adopt(x.r.ev.in.Shared.inputs.get(key), x.table)
	}
	changes, ok := x.table.Since(m.table)
	if !ok || len(changes) == 0 {
		return ok
	}
	x.r.ev.meter.Grow(len(changes))
	if err := x.r.ev.certain(x.in, func() { x.apply(m, changes) }); err != nil {
		m.members, m.value, m.err = nil, nil, err
		return true
	}
	if shared {
		x.share(key, m, x.table.Mark(), m.shared)
	}
	return true
}

// apply judges the objects that have changed.
func (x refreshing) apply(m *inputMemo, changes []world.Change) {
	u := inputUpdate{in: x.in, members: m.members, value: m.value}
	for _, c := range changes {
		u.apply(c, x.now(m, c))
	}
	if u.touched {
		m.members = u.members
		m.value, m.err = u.result()
	}
}

// now judges a changed object. What judging reads of the key's side was mostly read
// before, but for times.
func (x refreshing) now(m *inputMemo, c world.Change) *member {
	o := x.table.Get(c.Namespace, c.Name)
	if o == nil {
		return nil
	}
	h := x.r.push()
	out := x.judge(o, m.probes, x.r.ev.frame())
	x.r.pop()
	x.r.more(&m.held, h)
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
