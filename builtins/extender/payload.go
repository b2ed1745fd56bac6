package extender

import (
	"bytes"
	"io"
)

// payload is the body of a request: its beginning, then parts of a text, then its end.
// Nobody changes them, so that it can be sent again.
type payload struct {
	begin, text []byte
	// parts are where those of the text begin and end.
	parts [][2]int32
	end   []byte
}

var questionEnd = []byte("]}")

// body returns a request about the pools as encoding/json writes it.
func (q *question) body(r *reservation) *payload {
	return &payload{begin: r.head(), text: q.catalog.text, parts: q.parts(), end: questionEnd}
}

// parts returns what a request says of the pools, without the comma behind the last.
func (q *question) parts() (out [][2]int32) {
	c := q.catalog
	if q.rows == nil {
		return [][2]int32{{0, int32(len(c.text)) - 1}}
	}
	out = make([][2]int32, 0, q.gaps()+1)
	for at := 0; at < len(q.rows); {
		end := at + 1
		for end < len(q.rows) && q.rows[end] == q.rows[end-1]+1 {
			end++
		}
		out = append(out, [2]int32{c.begin(int(q.rows[at])), c.ends[q.rows[end-1]]})
		at = end
	}
	out[len(out)-1][1]--
	return out
}

// gaps counts where pools of the catalog are left out between others.
func (q *question) gaps() (n int) {
	for i := 1; i < len(q.rows); i++ {
		if q.rows[i] != q.rows[i-1]+1 {
			n++
		}
	}
	return n
}

// size is the length of the body, in bytes.
func (p *payload) size() int64 {
	n := len(p.begin) + len(p.end)
	for _, part := range p.parts {
		n += int(part[1] - part[0])
	}
	return int64(n)
}

// small is up to how many bytes a body is sent with its header, as a transport does with
// a reader that it knows. A server that refuses the connection could otherwise close it
// between the two, and its reason would be lost.
const small = 4 << 10

// open returns the body to read.
func (p *payload) open() io.ReadCloser {
	size := p.size()
	if size > small {
		return io.NopCloser(&payloadReader{payload: p, rest: p.begin})
	}
	whole := p.begin
	if len(p.parts)+len(p.end) > 0 {
		whole = p.whole(size)
	}
	return io.NopCloser(bytes.NewReader(whole))
}

// whole returns the body in one piece.
func (p *payload) whole(size int64) []byte {
	out := append(make([]byte, 0, size), p.begin...)
	for _, part := range p.parts {
		out = append(out, p.text[part[0]:part[1]]...)
	}
	return append(out, p.end...)
}

// payloadReader reads a payload.
type payloadReader struct {
	payload *payload
	// rest is what is left of the piece that is read, next which comes after it: a
	// part, or behind the last one the end.
	rest []byte
	next int
}

// Read implements io.Reader.
func (r *payloadReader) Read(into []byte) (n int, err error) {
	for n < len(into) {
		if len(r.rest) == 0 && !r.more() {
			if n == 0 {
				err = io.EOF
			}
			return n, err
		}
		copied := copy(into[n:], r.rest)
		r.rest, n = r.rest[copied:], n+copied
	}
	return n, nil
}

// more goes to the next piece, if there is one.
func (r *payloadReader) more() bool {
	p := r.payload
	switch {
	case r.next < len(p.parts):
		r.rest = p.text[p.parts[r.next][0]:p.parts[r.next][1]]
	case r.next == len(p.parts):
		r.rest = p.end
	default:
		return false
	}
	r.next++
	return true
}
