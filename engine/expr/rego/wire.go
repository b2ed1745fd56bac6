package rego

import (
	"encoding/binary"
	"errors"
)

// A value on its way to an evaluator or back is a tag and what the tag says: a
// number, a text with its length before it, or items up to the end tag. A field
// of an object is a text and a value.
const (
	tagNull   = 'z'
	tagTrue   = 't'
	tagFalse  = 'f'
	tagInt    = 'i' // a varint
	tagNumber = 'n' // any other number, as a text
	tagText   = 's'
	tagList   = 'a'
	tagObject = 'o'
	tagEnd    = 'e'
)

// errMangled reports what the two sides of one program never write.
var errMangled = errors.New("the message is mangled")

func appendText(b []byte, tag byte, s string) []byte {
	b = append(b, tag)
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendInt(b []byte, i int64) []byte { return binary.AppendVarint(append(b, tagInt), i) }

// message reads what the other side has written. The first mistake ends it.
type message struct {
	rest []byte
	bad  bool
}

// tag reads a tag; tagEnd is also the end of the message.
func (m *message) tag() byte {
	if len(m.rest) == 0 {
		m.bad = true
		return tagEnd
	}
	tag := m.rest[0]
	m.rest = m.rest[1:]
	return tag
}

func (m *message) int() int64 {
	i, n := binary.Varint(m.rest)
	m.skip(n)
	return i
}

func (m *message) size() uint64 {
	i, n := binary.Uvarint(m.rest)
	m.skip(n)
	return i
}

func (m *message) skip(n int) {
	if n <= 0 {
		m.bad, m.rest = true, nil
		return
	}
	m.rest = m.rest[n:]
}

// text reads a text after its tag.
func (m *message) text() string {
	n := m.size()
	if n > uint64(len(m.rest)) {
		m.bad, m.rest = true, nil
		return ""
	}
	s := string(m.rest[:n])
	m.rest = m.rest[n:]
	return s
}
