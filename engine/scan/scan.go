// Package scan reads JSON piece by piece: for those who need a part of a document
// and no values of the rest.
package scan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Scanner reads JSON. It is at a place in the text, and its methods take what is
// there. What they return of the text belongs to it.
type Scanner struct {
	Data []byte
	// At is the place, in bytes.
	At    int
	depth int
}

// maxDepth is how deep JSON may nest, as encoding/json has it.
const maxDepth = 10_000

var errCut = errors.New("the JSON ends too early")

// Wrong returns the error that something else is expected at this place.
func (s *Scanner) Wrong(expected string) error {
	if s.At >= len(s.Data) {
		return errCut
	}
	return fmt.Errorf("at byte %d the JSON has %q where %s is expected", s.At, s.Data[s.At], expected)
}

// Peek returns the next byte that is no white space; 0 at the end.
func (s *Scanner) Peek() byte {
	for s.At < len(s.Data) {
		switch c := s.Data[s.At]; c {
		case ' ', '\t', '\n', '\r':
			s.At++
		default:
			return c
		}
	}
	return 0
}

// Token takes a byte.
func (s *Scanner) Token(c byte, what string) error {
	if s.Peek() != c {
		return s.Wrong(what)
	}
	s.At++
	return nil
}

// Has takes a byte if it stands at this very place, and reports whether it does.
func (s *Scanner) Has(c byte) bool {
	if s.At >= len(s.Data) || s.Data[s.At] != c {
		return false
	}
	s.At++
	return true
}

// HasText is Has for some bytes.
func (s *Scanner) HasText(text string) bool {
	if len(s.Data)-s.At < len(text) || string(s.Data[s.At:s.At+len(text)]) != text {
		return false
	}
	s.At += len(text)
	return true
}

// More takes what stands between two entries, and reports whether there is another.
func (s *Scanner) More(first bool, end byte) (bool, error) {
	switch c := s.Peek(); {
	case c == end:
		s.At++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.At++
		return true, nil
	}
	return false, s.Wrong("a comma")
}

// Enter begins an object or a list.
func (s *Scanner) Enter() error {
	s.At++
	if s.depth++; s.depth > maxDepth {
		return errors.New("the JSON nests too deep")
	}
	return nil
}

// Leave notes that an object or a list that was entered has ended.
func (s *Scanner) Leave() { s.depth-- }

// Object visits the fields of an object, whose values visit takes.
func (s *Scanner) Object(visit func(key []byte) error) error {
	if s.Peek() != '{' {
		return s.Wrong("an object")
	}
	if err := s.Enter(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		more, err := s.More(n == 0, '}')
		if err != nil || !more {
			s.Leave()
			return err
		}
		raw, _, err := s.Key()
		if err != nil {
			return err
		}
		if err := visit(raw); err != nil {
			return err
		}
	}
}

// ErrEnough is what the visit of [Scanner.Head] returns when it needs no more.
var ErrEnough = errors.New("the rest is not read")

// Head is Object, and ends where visit returns ErrEnough, also inside of a value. Nothing
// is read by the Scanner after that.
func (s *Scanner) Head(visit func(key []byte) error) error {
	if err := s.Object(visit); !errors.Is(err, ErrEnough) {
		return err
	}
	return nil
}

// List visits the items of a list, which visit takes. Null is a list without items.
func (s *Scanner) List(visit func() error) error {
	switch s.Peek() {
	case 'n':
		return s.Word("null")
	case '[':
	default:
		return s.Wrong("a list")
	}
	if err := s.Enter(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		more, err := s.More(n == 0, ']')
		if err != nil || !more {
			s.Leave()
			return err
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

// Word takes true, false or null.
func (s *Scanner) Word(text string) error {
	if s.HasText(text) {
		return nil
	}
	return s.Wrong(text)
}

// Number takes a number: a whole one as int64 where it fits.
func (s *Scanner) Number() (whole int64, fraction float64, isWhole bool, err error) {
	if c := s.Peek(); c != '-' && (c < '0' || c > '9') {
		return 0, 0, false, s.Wrong("a value")
	}
	start := s.At
	isWhole = true
	for s.At < len(s.Data) {
		switch c := s.Data[s.At]; {
		case c >= '0' && c <= '9', c == '-' && s.At == start:
		case c == '.', c == 'e', c == 'E', c == '+', c == '-':
			isWhole = false
		default:
			return s.parse(s.Data[start:s.At], isWhole)
		}
		s.At++
	}
	return s.parse(s.Data[start:s.At], isWhole)
}

func (s *Scanner) parse(text []byte, isWhole bool) (int64, float64, bool, error) {
	if isWhole {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return n, 0, true, nil
		}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
		err = errors.New("a number that is none")
	}
	return 0, f, false, err
}
