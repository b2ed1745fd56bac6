package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestScan: the parts of a document, and what is wrong with one.
func TestScan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"b":[true,null,"x"],"c":{"d":-2.5e3}}`: "a=1 b=[true,null,\"x\"] c={\"d\":-2.5e3}",
		` { "a" : "\u00e4" } `:                         `a="\u00e4"`, `{}`: "", `{"a":[{"b":"]}"}]}`: `a=[{"b":"]}"}]`,
	} {
		var got []string
		s := Scanner{Data: []byte(text)}
		err := s.Object(func(key []byte) error {
			raw, err := s.Raw()
			got = append(got, string(key)+"="+string(raw))
			return err
		})
		if err != nil || strings.Join(got, " ") != want || s.Peek() != 0 {
			t.Errorf("%s: %q (%v)", text, got, err)
		}
	}
	for text, want := range map[string]string{
		`{"a"`: "the JSON ends too early", `{"a":1 "b":2}`: `at byte 7 the JSON has '"' where a comma is expected`, `[]`: `at byte 0 the JSON has '[' where an object is expected`,
		`{"a":x}`: `at byte 5 the JSON has 'x' where a value is expected`, `{"a":tru}`: `at byte 5 the JSON has 't' where true is expected`, "{\"a\nb\":1}": `at byte 3 the JSON has '\n' where a character of a string is expected`,
	} {
		s := Scanner{Data: []byte(text)}
		if err := s.Object(func([]byte) error { return s.Skip() }); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestHead: what follows is not read, whatever it is.
func TestHead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"b":{"c":2,"end":3,x`: "<nil>", `{"a":1,"b":{"c":2}}`: "<nil>", `{"a":1,"b":{x`: `at byte 12 the JSON has 'x' where a string is expected`,
	} {
		s := Scanner{Data: []byte(text)}
		err := s.Head(func(key []byte) error {
			if string(key) != "b" {
				return s.Skip()
			}
			return s.Object(func(key []byte) error {
				if string(key) == "end" {
					return ErrEnough
				}
				return s.Skip()
			})
		})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestText: strings end where they end, and what is odd in them is found, wherever it
// stands.
func TestText(t *testing.T) {
	t.Parallel()
	for size := range 20 {
		for at := range size + 1 {
			for c := range 256 {
				inner := []byte(strings.Repeat("~", size) + " ")
				inner[at] = byte(c)
				text := []byte(`"` + string(inner) + `", "` + "\x01")
				s, slow := Scanner{Data: text}, Scanner{Data: text, At: 1}
				raw, plain, err := s.Text()
				wantRaw, wantPlain, wantErr := slow.text(1)
				if string(raw) != string(wantRaw) || plain != wantPlain || fmt.Sprint(err) != fmt.Sprint(wantErr) || s.At != slow.At {
					t.Fatalf("%q: %q, %t, %v at %d, want %q, %t, %v at %d", text, raw, plain, err, s.At, wantRaw, wantPlain, wantErr, slow.At)
				}
			}
		}
	}
}

// FuzzScan: of a valid document everything is taken, and its parts are valid.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\""}]}`, `[[]]`, `"x"`, `-0.5`, `{"a`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := Scanner{Data: text}
		raw, err := s.Raw()
		if !json.Valid(text) || errors.Is(err, strconv.ErrRange) {
			return // no panic
		}
		if err != nil || s.Peek() != 0 || s.At != len(text) || !json.Valid(raw) {
			t.Fatalf("%q: took %q (%v)", text, raw, err)
		}
	})
}

// FuzzBrackets: the brackets outside of strings are found wherever the text is cut.
func FuzzBrackets(f *testing.F) {
	for _, text := range []string{`{"a":[1,"]}"],"b":{}}`, `{"a\\":"\"{","longer than eight bytes\\":[]}`, `"`, `\"{`, `{"` + strings.Repeat("é", 20) + `\`, ""} {
		f.Add([]byte(text), uint(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint) {
		want := bracketsOf(text)
		for _, at := range []uint{0, cut % uint(len(text)+1)} {
			var b Brackets
			var got []int
			for i, end := 0, int(at); ; {
				if i = b.Next(text[:end], i); i < end {
					got = append(got, i)
					i++
				} else if end < len(text) {
					end = len(text)
				} else {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q, cut at %d: %v, want %v", text, at, got, want)
			}
		}
	})
}

// bracketsOf finds what Brackets does, byte by byte.
func bracketsOf(text []byte) (out []int) {
	inText := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && strings.ContainsRune("{}[]", rune(c)):
			out = append(out, i)
		}
	}
	return out
}
