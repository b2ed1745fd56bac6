package extender

import (
	"bytes"
	"io"
	"net"
	"slices"
)

// payload is the body of a request, in parts that other requests share.
type payload struct {
	parts net.Buffers
	size  int64
}

func newPayload(parts ...[]byte) *payload {
	p := &payload{parts: parts}
	for _, part := range parts {
		p.size += int64(len(part))
	}
	return p
}

// small is up to which size a body is sent as one text, in bytes: net/http sends one with
// the header, so that a connection that is refused fails with the reason.
const small = 4 << 10

// open returns a reader of the whole body.
func (p *payload) open() io.ReadCloser {
	if p.size <= small {
		return io.NopCloser(bytes.NewReader(slices.Concat(p.parts...)))
	}
	return &body{slices.Clone(p.parts)} // reading takes them away
}

// body reads a payload.
type body struct{ net.Buffers }

// Close implements io.Closer.
func (*body) Close() error { return nil }

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
