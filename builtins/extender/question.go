package extender

import (
	"strconv"

	"github.com/edict-dev/edict/engine/value"
)

// question is a catalog, or some pools of it, in its order.
type question struct {
	catalog *catalog
	// rows are the places of the pools in the catalog; nil is all.
	rows []int32
}

// len returns how many pools are asked about.
func (q *question) len() int {
	if q.rows == nil {
		return q.catalog.len()
	}
	return len(q.rows)
}

// asked returns the pools that are asked about.
func (q *question) asked() []pool {
	out := make([]pool, q.len())
	for i := range out {
		row := i
		if q.rows != nil {
			row = int(q.rows[i])
		}
		out[i] = q.catalog.pool(row)
	}
	return out
}

// head is a request up to the pools.
func (r *reservation) head() []byte {
	out := appendReservation(make([]byte, 0, 128+len(r.ID)), r.ID, r.TTL)
	out = strconv.AppendInt(append(out, `,"size":`...), r.Size, 10)
	return append(out, `,"lvgs":[`...)
}

// room is how many bytes appendTo takes with a comma, unless names are escaped.
func (p *pool) room() int {
	if p.ThinPool == "" {
		return len(`{"name":""},`) + len(p.Name)
	}
	return len(`{"name":"","thinPoolName":""},`) + len(p.Name) + len(p.ThinPool)
}

// appendTo writes the pool as requests do.
func (p *pool) appendTo(out []byte) []byte {
	out = value.AppendText(append(out, `{"name":`...), p.Name)
	if p.ThinPool != "" {
		out = value.AppendText(append(out, `,"thinPoolName":`...), p.ThinPool)
	}
	return append(out, '}')
}
