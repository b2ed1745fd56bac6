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
