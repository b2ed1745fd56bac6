package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// String takes a string.
func (s *Scanner) String() (string, error) {
	raw, plain, err := s.Text()
	if err != nil {
		return "", err
	}
	return Unquote(raw, plain)
}

// Text takes a string: its bytes between the quotes, and whether they are what they
// stand for.
func (s *Scanner) Text() (raw []byte, plain bool, err error) {
	if !s.Has('"') {
		if err := s.Token('"', "a string"); err != nil {
			return nil, false, err
		}
	}
	start := s.At
	for rest := s.Data[start:]; len(rest) >= 8; rest = rest[8:] {
		if found := odd(binary.LittleEndian.Uint64(rest)); found != 0 {
			s.At += bits.TrailingZeros64(found) / 8
			if s.Has('"') {
				return s.Data[start : s.At-1], true, nil
			}
			break
		}
		s.At += 8
	}
	return s.text(start)
}

// text is Text from any place inside of a string on.
func (s *Scanner) text(start int) (raw []byte, plain bool, err error) {
	plain = true
	for s.At < len(s.Data) {
		switch c := s.Data[s.At]; {
		case c == '"':
			raw = s.Data[start:s.At]
			s.At++
			return raw, plain || bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw), nil
		case c == '\\':
			plain = false
			s.At++
		case c < ' ':
			return nil, false, s.Wrong("a character of a string")
		case c >= utf8.RuneSelf:
			plain = false
		}
		s.At++
	}
	return nil, false, errCut
}

// Unquote returns the text of a string.
func Unquote(raw []byte, plain bool) (string, error) {
	if plain {
		return string(raw), nil
	}
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var out string
	err := json.Unmarshal(quoted, &out)
	return out, err
}

// Key takes the name of a field and the colon.
func (s *Scanner) Key() (raw []byte, plain bool, err error) {
	if raw, plain, err = s.Text(); err == nil {
		err = s.Token(':', "a colon")
	}
	return raw, plain, err
}
