package cel

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// FieldNames returns the names of the fields that the mapping may have; nil of none.
func (m Mapping) FieldNames() []string {
	if m.entries == nil {
		return nil
	}
	out := make([]string, len(m.entries.keys))
	for f, key := range m.entries.keys {
		out[f], _ = value.Str(key.constant)
	}
	return out
}

// Columns builds a mapping with [Mapping.FieldNames] for many rows at once: it sets into,
// which has a list for each field, to the fields of each row, and to nil where a row has
// none. It returns the weight that each row has, 0 for a row that [Template.Build] has to
// be asked about, and what each costs; false when the template cannot be built so.
func (m Mapping) Columns(b *direct.Batch, meter *expr.Meter, into [][]value.Value, weights []uint32) (cost uint64, ok bool) {
	if m.entries == nil || !m.entries.vectors() {
		return 0, false
	}
	for i := range b.Rows {
		weights[i] = 1
	}
	for f, v := range m.entries.values {
		if v.program == nil {
			fillColumn(into[f][:b.Rows], v.constant, weights)
			continue
		}
		column := v.program.Rows(b, meter)
		if column == nil {
			return 0, false
		}
		takeColumn(into[f], column, weights)
		if b.Memory != nil {
			b.Memory.Give(column)
		}
		cost += v.program.weight
	}
	for i, w := range weights[:b.Rows] {
		if meter.Built(int(w)) != nil {
			weights[i] = 0
		}
	}
	return cost, true
}

func fillColumn(into []value.Value, constant value.Value, weights []uint32) {
	for i := range into {
		into[i] = constant
		if weights[i] > 0 {
			weights[i] += uint32(value.Weight(constant))
		}
	}
}

// takeColumn sets a field of all rows, and takes the weight of those in which it is not
// known.
func takeColumn(into, column []value.Value, weights []uint32) {
	for i, v := range column {
		if v == nil {
			weights[i] = 0
		} else if into[i] = value.Unwrap(v); into[i] != nil && weights[i] > 0 {
			weights[i] += uint32(value.Weight(into[i]))
		}
	}
}
