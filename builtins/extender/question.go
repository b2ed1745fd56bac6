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

var questionEnd = []byte("]}")

// body returns the body of a request with a question.
func (q *question) body(r *reservation) *payload {
	c := q.catalog
	if q.rows == nil {
		return newPayload(r.head(), c.text[:len(c.text)-1], questionEnd)
	}
	parts := make([][]byte, 1, min(len(q.rows), c.len()-len(q.rows)+1)+2)
	parts[0] = r.head()
	for at := 0; at < len(q.rows); {
		end := at + 1
		for end < len(q.rows) && q.rows[end] == q.rows[end-1]+1 {
			end++
		}
		parts = append(parts, c.said(int(q.rows[at]), int(q.rows[end-1])+1))
		at = end
	}
	last := parts[len(parts)-1]
	parts[len(parts)-1] = last[:len(last)-1] // without the comma
	return newPayload(append(parts, questionEnd)...)
}
