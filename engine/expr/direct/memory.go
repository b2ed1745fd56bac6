package direct

import "github.com/google/cel-go/common/types/ref"

// Memory keeps columns that nobody needs any more, to be written over. All have room
// for as many rows as any of them has had, so that each can take the place of another.
type Memory struct {
	spare [][]ref.Val
	most  int
	// clean are the first of the spare columns, which have no values.
	clean int
}

// Take returns a column of so many rows, with any values.
func (m *Memory) Take(rows int) []ref.Val {
	m.most = max(m.most, rows)
	for n := len(m.spare); n > 0; n-- {
		column := m.spare[n-1]
		m.spare, m.clean = m.spare[:n-1], min(m.clean, n-1)
		if cap(column) >= rows {
			return column[:rows]
		}
	}
	return make([]ref.Val, rows, m.most)
}

// Give takes a column back.
func (m *Memory) Give(column []ref.Val) { m.spare = append(m.spare, column) }

// Forget drops the values of the columns that nobody needs any more, and keeps their
// room.
func (m *Memory) Forget() {
	for _, column := range m.spare[m.clean:] {
		clear(column[:cap(column)])
	}
	m.clean = len(m.spare)
}
