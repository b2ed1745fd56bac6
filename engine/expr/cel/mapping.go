package cel

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// maxFields is how many fields a mapping has at most of which many are made at once.
const maxFields = 16

// Mapping is a template of a mapping whose fields are all written out, which is built for
// many rows at once. Zero is a template that is none.
type Mapping struct{ entries *entries }

// Rows builds a mapping for each row, and returns what each row costs. It is
// nil for a template that cannot be built so; it has nil for a row that
// [Template.Build] has to be asked about.
func (m Mapping) Rows(b *direct.Batch, meter *expr.Meter) (out []*value.Map, cost uint64) {
	if m.entries == nil || len(m.entries.values) > maxFields {
		return nil, 0
	}
	columns := make([][]value.Value, len(m.entries.values))
	for i, v := range m.entries.values {
		switch {
		case v.constant != nil:
		case v.program == nil:
			return nil, 0
		default:
			if columns[i] = v.program.Rows(b, meter); columns[i] == nil {
				return nil, 0
			}
			cost += v.program.weight
		}
	}
	making := mappings{entries: m.entries, columns: columns, maker: value.NewMaker(b.Rows, len(columns)), names: map[uint16]*value.Names{}}
	out = make([]*value.Map, b.Rows)
	for i := range out {
		if made := making.row(i); made != nil && meter.Build(made) == nil {
			out[i] = made
		}
	}
	for _, column := range columns {
		if column != nil && b.Memory != nil {
			b.Memory.Give(column)
		}
	}
	return out, cost
}

// mappings are mappings of the values in columns.
type mappings struct {
	entries *entries
	columns [][]value.Value
	maker   *value.Maker
	// names are those of the fields that are there, by which these are; last are those of
	// the row before, whose fields were wasThere.
	names    map[uint16]*value.Names
	last     *value.Names
	wasThere uint16
	vals     [maxFields]value.Value
}

// row makes the mapping of a row; nil when a value is not known.
func (m *mappings) row(i int) *value.Map {
	there, n := uint16(0), 0
	for f, column := range m.columns {
		v := m.entries.values[f].constant
		if column != nil {
			if column[i] == nil {
				return nil
			}
			v = value.Unwrap(column[i])
		}
		if v != nil {
			there |= 1 << f
			m.vals[n] = v
			n++
		}
	}
	return m.maker.Map(m.namesOf(there), m.vals[:n]...)
}

// namesOf returns the names of the fields that are there.
func (m *mappings) namesOf(there uint16) *value.Names {
	if m.last != nil && there == m.wasThere {
		return m.last
	}
	known, ok := m.names[there]
	if !ok {
		var names []string
		for f, key := range m.entries.keys {
			if name, _ := value.Str(key.constant); there&(1<<f) != 0 {
				names = append(names, name)
			}
		}
		known = value.NamesOf(names...)
		m.names[there] = known
	}
	m.last, m.wasThere = known, there
	return known
}
