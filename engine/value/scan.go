package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// scanner reads JSON piece by piece, without making values of what nobody asks for.
type scanner struct {
	data  []byte
	at    int
	depth int
}

// maxDepth is how deep JSON may nest, as encoding/json has it.
const maxDepth = 10_000

var errCut = errors.New("the JSON ends too early")

func (s *scanner) wrong(expected string) error {
	if s.at >= len(s.data) {
		return errCut
	}
	return fmt.Errorf("at byte %d the JSON has %q where %s is expected", s.at, s.data[s.at], expected)
}

// peek returns the next byte that is no white space; 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// token takes a byte.
func (s *scanner) token(c byte, what string) error {
	if s.peek() != c {
		return s.wrong(what)
	}
	s.at++
	return nil
}

// more takes what stands between two entries, and reports whether there is another.
func (s *scanner) more(first bool, end byte) (bool, error) {
	switch c := s.peek(); {
	case c == end:
		s.at++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.at++
		return true, nil
	}
	return false, s.wrong("a comma")
}

// enter begins an object or a list.
func (s *scanner) enter() error {
	s.at++
	if s.depth++; s.depth > maxDepth {
		return errors.New("the JSON nests too deep")
	}
	return nil
}

// text takes a string: its bytes between the quotes, and whether they are what they
// stand for.
func (s *scanner) text() (raw []byte, plain bool, err error) {
	if err := s.token('"', "a string"); err != nil {
		return nil, false, err
	}
	start, plain := s.at, true
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			raw = s.data[start:s.at]
			s.at++
			return raw, plain || isPlain(raw), nil
		case c == '\\':
			plain = false
			s.at++
		case c < ' ':
			return nil, false, s.wrong("a character of a string")
		case c >= utf8.RuneSelf:
			plain = false
		}
		s.at++
	}
	return nil, false, errCut
}

// isPlain reports whether the bytes of a string are text without escapes.
func isPlain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' {
			return false
		}
	}
	return utf8.Valid(raw)
}

// unquote returns the text of a string.
func unquote(raw []byte, plain bool) (string, error) {
	if plain {
		return string(raw), nil
	}
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var out string
	err := json.Unmarshal(quoted, &out)
	return out, err
}

// key takes the name of a field and the colon.
func (s *scanner) key() (raw []byte, plain bool, err error) {
	if raw, plain, err = s.text(); err == nil {
		err = s.token(':', "a colon")
	}
	return raw, plain, err
}

// word takes true, false or null.
func (s *scanner) word(text string) error {
	if len(s.data)-s.at < len(text) || string(s.data[s.at:s.at+len(text)]) != text {
		return s.wrong(text)
	}
	s.at += len(text)
	return nil
}

// number takes a number: a whole one as int64 where it fits.
func (s *scanner) number() (whole int64, fraction float64, isWhole bool, err error) {
	start := s.at
	isWhole = true
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c >= '0' && c <= '9', c == '-' && s.at == start:
		case c == '.', c == 'e', c == 'E', c == '+', c == '-':
			isWhole = false
		default:
			return s.parse(s.data[start:s.at], isWhole)
		}
		s.at++
	}
	return s.parse(s.data[start:s.at], isWhole)
}

func (s *scanner) parse(text []byte, isWhole bool) (int64, float64, bool, error) {
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

// skip passes over a value.
func (s *scanner) skip() error {
	switch c := s.peek(); c {
	case '{', '[':
		return s.skipNested()
	case '"':
		_, _, err := s.text()
		return err
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		_, _, _, err := s.number()
		return err
	}
}

// skipNested passes over an object or a list.
func (s *scanner) skipNested() error {
	open := 0
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case '{', '[':
			open++
		case '}', ']':
			open--
		case '"':
			if _, _, err := s.text(); err != nil {
				return err
			}
			continue
		}
		s.at++
		if open == 0 {
			return nil
		}
	}
	return errCut
}
