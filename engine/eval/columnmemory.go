package eval

import (
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// columnMemory is what the columns of a collection or an input are computed in. An
// evaluation uses it for one after the other.
type columnMemory struct {
	// spare has the columns of items before, made are those under way.
	spare direct.Memory
	made  [][]value.Value
	// chosen and rows say which items met the condition.
	chosen, rows []int32
	reads        rowReads
	// used says that there may be something to forget.
	used bool
}

// columnMemory returns memory that no other columns are in.
func (ev *evaluation) columnMemory() *columnMemory {
	if ev.scratch == nil {
		return &columnMemory{}
	}
	m := lastOf(&ev.scratch.columns)
	m.used = true
	return m
}

// end frees the memory of a run, if there was one: its columns are used no longer.
func (run *columnRun) end() {
	if run != nil {
		run.memory.again()
		if s := run.ev.scratch; s != nil {
			s.columns = append(s.columns, run.memory)
		}
	}
}

// forget drops what the columns have named, and keeps their room.
func (m *columnMemory) forget() {
	if m.used {
		m.spare.Forget()
		m.reads.forget()
		m.used = false
	}
}

// again makes the columns free for the next items.
func (m *columnMemory) again() {
	for _, column := range m.made {
		m.spare.Give(column)
	}
	m.made = m.made[:0]
}

// column returns memory for a column, until the next items are computed.
func (m *columnMemory) column(rows int) []value.Value {
	out := m.spare.Take(rows)
	m.made = append(m.made, out)
	return out
}

// meet notes which items meet a condition: the place of each among them, and which they
// are.
func (m *columnMemory) meet(when []value.Value) (chosen, rows []int32) {
	m.chosen, m.rows = m.chosen[:0], m.rows[:0]
	for i, holds := range when {
		m.chosen = append(m.chosen, int32(len(m.rows)))
		if holds != nil && value.IsTrue(holds) {
			m.rows = append(m.rows, int32(i))
		}
	}
	return m.chosen, m.rows
}
