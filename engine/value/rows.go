package value

import "slices"

// Rows are objects of which many have the same fields, kept field by field: that takes
// less memory than a map for each. They do not change.
type Rows struct {
	n int
	// names are the fields in columns, nil where a row has none. Without names the
	// objects are maps.
	names   []string
	columns [][]Value
	maps    []*Map
	built   int
}

// NewRows returns objects with the fields that are in columns, one for each name. An
// object has no field where its value is nil. The columns must not change afterwards.
func NewRows(names []string, columns [][]Value) *Rows {
	r := &Rows{n: len(columns[0]), names: names, columns: columns}
	r.built = r.n * HolderBytes
	for f, column := range columns {
		for _, v := range column {
			if v != nil {
				r.built += Built(v) + ScalarBytes + len(names[f])
			}
		}
	}
	return r
}

// RowsOf returns some objects as rows.
func RowsOf(maps ...*Map) *Rows {
	r := &Rows{n: len(maps), maps: maps}
	for _, m := range maps {
		if m != nil {
			r.built += Built(m)
		}
	}
	return r
}

// Len is the number of objects.
func (r *Rows) Len() int { return r.n }

// Built is how many bytes the objects would keep in memory as maps.
func (r *Rows) Built() int { return r.built }

// Field returns the value that an object has of a field; nil when it has none.
func (r *Rows) Field(i int, name string) Value {
	if r.names == nil {
		return r.maps[i].Lookup(name)
	}
	if f := slices.Index(r.names, name); f >= 0 {
		return r.columns[f][i]
	}
	return nil
}

// At returns an object as a map.
func (r *Rows) At(i int) *Map {
	if r.names == nil {
		return r.maps[i]
	}
	names, values := make([]string, 0, len(r.names)), make([]Value, 0, len(r.names))
	for f, column := range r.columns {
		if column[i] != nil {
			names, values = append(names, r.names[f]), append(values, column[i])
		}
	}
	return NamesOf(names...).Map(values...)
}

// Alike reports whether an object is the same as one of other rows in every respect.
func (r *Rows) Alike(i int, other *Rows, j int) bool {
	if r.names == nil || other.names == nil || !slices.Equal(r.names, other.names) {
		return Alike(r.At(i), other.At(j))
	}
	for f, column := range r.columns {
		if !Alike(column[i], other.columns[f][j]) {
			return false
		}
	}
	return true
}
