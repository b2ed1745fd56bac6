// Package stream reads the events of watches as client-go does: a framer divides what
// comes over the connection, and the serializers of a client decode events and objects.
package stream

import (
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	restwatch "k8s.io/client-go/rest/watch"
)

// Stream is a watch that is open.
type Stream struct {
	body    body
	decoder *restwatch.Decoder
}

// Open opens a watch of a client that has a serializer. The content type is that of the
// answer.
func Open(by runtime.NegotiatedSerializer, gv schema.GroupVersion, contentType string) (*Stream, error) {
	objects, events, framer, err := runtime.NewClientNegotiator(by, gv).StreamDecoder(contentType, nil)
	if err != nil {
		return nil, err
	}
	s := &Stream{}
	s.decoder = restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(&s.body), events), objects)
	return s, nil
}

// Next takes in an event, and returns its object.
func (s *Stream) Next(event []byte) (runtime.Object, error) {
	s.body.rest = event
	_, o, err := s.decoder.Decode()
	return o, err
}

// body is what the API server sends: one event at a time.
type body struct{ rest []byte }

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(into, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (*body) Close() error { return nil }
