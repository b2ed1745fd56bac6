package informers

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/edict-dev/edict/engine/scan"
)

// frames divides a watch into its events: JSON objects, one after the other. The reader of
// the API machinery goes through each event four times until its object is decoded, and
// copies it twice, which took longer than the decoding.
type frames struct {
	from io.ReadCloser
	// last is the last event, which the serializers of the watch decode.
	last event
	// buffer is what was read: first what was handed on, in bytes taken.
	buffer []byte
	taken  int
	// small is the buffer while there is no longer event.
	small []byte
}

// frameSize is the room for what was read, in bytes, before there is a longer event.
const frameSize = 16 << 10

// NewFrameReader implements runtime.Framer, for one watch.
func (f *frames) NewFrameReader(from io.ReadCloser) io.ReadCloser {
	f.from, f.small = from, make([]byte, 0, frameSize)
	f.buffer = f.small
	return f
}

// NewFrameWriter implements runtime.Framer.
func (*frames) NewFrameWriter(w io.Writer) io.Writer { return w }

// Read takes the next event. What it returns only says that there is one: the text does
// not have to be copied.
func (f *frames) Read(into []byte) (int, error) { return copy(into, "{"), f.next() }

// Close implements io.Closer.
func (f *frames) Close() error { return f.from.Close() }

// next finds the next event, whose text is valid until it is dropped.
func (f *frames) next() error {
	f.drop()
	var b boundary
	for at := 0; ; {
		end, err := b.find(f.buffer, at)
		if err != nil {
			return err
		}
		if end > 0 {
			f.taken = end
			f.last.set(f.buffer[b.from:end], b.inner-b.from, b.innerEnd-b.from)
			return nil
		}
		at = len(f.buffer)
		if err := f.fill(); err != nil {
			if errors.Is(err, io.EOF) && len(bytes.TrimSpace(f.buffer)) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
}

// drop drops the event that was handed on, if there is one.
func (f *frames) drop() {
	rest := f.buffer[f.taken:]
	f.taken, f.last = 0, event{}
	if large := f.buffer; cap(large) > cap(f.small) && len(rest) <= cap(f.small)/2 {
		f.buffer = f.small
		defer giveRoom(large)
	}
	f.buffer = append(f.buffer[:0], rest...)
}

// fill reads more. It returns an error only if there is no more.
func (f *frames) fill() error {
	if len(f.buffer) == cap(f.buffer) {
		full := f.buffer
		f.buffer = append(takeRoom(2*cap(full)), full...)
		if cap(full) > cap(f.small) {
			giveRoom(full)
		}
	}
	n, err := f.from.Read(f.buffer[len(f.buffer):cap(f.buffer)])
	if f.buffer = f.buffer[:len(f.buffer)+n]; n > 0 {
		return nil // an error comes again
	}
	return err
}

// boundary finds the end of an object in a text of which more and more is known.
type boundary struct {
	scan.Brackets
	open int
	// The object is from a place on, and the first object or list in it between two; 0
	// for none yet.
	from, inner, innerEnd int
}

// find returns where the object ends, with what is new at a place; 0 is that it is not
// known yet.
func (b *boundary) find(text []byte, at int) (end int, err error) {
	if b.open == 0 {
		at = len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
		if b.from = at; at < len(text) && text[at] != '{' {
			return 0, fmt.Errorf("a watch has %q where an event is expected", text[at])
		}
	}
	for {
		if at = b.Next(text, at); at == len(text) {
			return 0, nil
		}
		b.count(text[at], at)
		if at++; b.open == 0 {
			return at, nil
		}
	}
}

// count takes a bracket.
func (b *boundary) count(c byte, at int) {
	if c == '{' || c == '[' {
		if b.open++; b.open == 2 && b.inner == 0 {
			b.inner = at
		}
		return
	}
	if b.open--; b.open == 1 && b.innerEnd == 0 {
		b.innerEnd = at + 1
	}
}
