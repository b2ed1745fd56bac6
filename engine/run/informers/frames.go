package informers

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/scan"
)

// framer divides a watch into its events: JSON objects, one after the other. That of the
// API machinery goes through each event four times until its object is decoded, which
// took longer than the decoding.
type framer struct{}

// NewFrameReader implements runtime.Framer.
func (framer) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &frames{from: r, buffer: make([]byte, 0, frameSize)}
}

// NewFrameWriter implements runtime.Framer.
func (framer) NewFrameWriter(w io.Writer) io.Writer { return w }

// frameSize is the room for what was read, in bytes, before there is a longer event.
const frameSize = 16 << 10

// frames reads events.
type frames struct {
	from io.ReadCloser
	// buffer is what was read: first what was handed on, in bytes taken.
	buffer []byte
	taken  int
	// rest is what there was no room for of the last event.
	rest []byte
}

// Read returns the next event. [io.ErrShortBuffer] is that there is more of it.
func (f *frames) Read(into []byte) (int, error) {
	if len(f.rest) == 0 {
		var err error
		if f.rest, err = f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(into, f.rest)
	if f.rest = f.rest[n:]; len(f.rest) > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

// Close implements io.Closer.
func (f *frames) Close() error { return f.from.Close() }

// next returns the text of the next event, which is valid until the next call.
func (f *frames) next() ([]byte, error) {
	f.drop()
	var b boundary
	for at := 0; ; {
		end, err := b.find(f.buffer, at)
		if err != nil {
			return nil, err
		}
		if end > 0 {
			f.taken = end
			return f.buffer[:end], nil
		}
		at = len(f.buffer)
		if err := f.fill(); err != nil {
			if errors.Is(err, io.EOF) && len(bytes.TrimSpace(f.buffer)) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// drop drops the event that was handed on.
func (f *frames) drop() {
	f.buffer = f.buffer[:copy(f.buffer, f.buffer[f.taken:])]
	f.taken = 0
}

// fill reads more. It returns an error only if there is no more.
func (f *frames) fill() error {
	if len(f.buffer) == cap(f.buffer) {
		f.buffer = append(make([]byte, 0, 2*cap(f.buffer)), f.buffer...)
	}
	n, err := f.from.Read(f.buffer[len(f.buffer):cap(f.buffer)])
	if f.buffer = f.buffer[:len(f.buffer)+n]; n > 0 {
		return nil // an error comes again
	}
	return err
}

// boundary finds the end of an object in a text of which more and more is known.
type boundary struct {
	open            int
	inText, escaped bool
}

// find returns where the object ends whose text begins at 0, with what is new at a place;
// 0 is that it is not known yet.
func (b *boundary) find(text []byte, at int) (end int, err error) {
	for ; at < len(text); at++ {
		c := text[at]
		switch {
		case b.inText:
			b.text(c)
		case c == '"':
			b.inText = true
		case c == '{' || c == '[':
			b.open++
		case c == '}' || c == ']':
			if b.open--; b.open == 0 {
				return at + 1, nil
			}
		}
		if b.open < 1 && c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return 0, fmt.Errorf("a watch has %q where an event is expected", c)
		}
	}
	return 0, nil
}

// text takes a byte of a string.
func (b *boundary) text(c byte) {
	switch {
	case b.escaped:
		b.escaped = false
	case c == '\\':
		b.escaped = true
	case c == '"':
		b.inText = false
	}
}

// envelopes decodes events of watches, and leaves their objects as they are. The object
// of an event belongs to the text that was decoded.
type envelopes struct{ kruntime.Serializer }

// Decode implements runtime.Decoder.
func (e envelopes) Decode(data []byte, defaults *kschema.GroupVersionKind, into kruntime.Object) (kruntime.Object, *kschema.GroupVersionKind, error) {
	event, ok := into.(*metav1.WatchEvent)
	if !ok {
		return e.Serializer.Decode(data, defaults, into)
	}
	s := scan.Scanner{Data: data}
	err := s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			event.Type, err = s.String()
		case "object":
			event.Object.Raw, err = s.Raw()
		default:
			err = s.Skip()
		}
		return err
	})
	return event, &kschema.GroupVersionKind{}, err
}
