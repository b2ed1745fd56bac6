package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parse reads a text that is expected to be well-formed.
func parse(t *testing.T, text string) []*Node {
	t.Helper()
	var problems Problems
	nodes := Parse("f.yaml", []byte(text), &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return nodes
}

// placeOf finds a character in a text that an editor shows: lines and columns
// count from 1, a column is a character.
func placeOf(text string, mark rune) Position {
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if at := slices.Index([]rune(line), mark); at >= 0 {
			return Position{File: "f.yaml", Line: i + 1, Column: at + 1}
		}
	}
	return Position{}
}

// scalars returns every scalar below a node.
func scalars(n *Node) []*Node {
	if n.Kind != Map && n.Kind != List {
		return []*Node{n}
	}
	var out []*Node
	for _, inner := range slices.Concat(n.Keys, n.Values) {
		out = append(out, scalars(inner)...)
	}
	return out
}

// TestAtFollowsScalars marks a character of a scalar with @ and asks for its
// place in the file.
func TestAtFollowsScalars(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":                          "k: a + @b",
		"plain over lines":               "k: a &&\n   b &&\n   @c",
		"plain over lines with gaps":     "k: a   &&\n\n      b\n\n\n   @c",
		"plain in a list":                "k:\n  - a\n  - b @c",
		"plain in a flow mapping":        "k: {a: b, c: d @e}",
		"a key":                          "k:\n  a@b: c",
		"single quotes":                  "k: 'a @b'",
		"single quotes with a quote":     "k: 'it''s @b'",
		"single quotes with two quotes":  "k: 'a == '''' && @b'",
		"a quote in single quotes":       "k: 'a ''@'' b'",
		"single quotes over lines":       "k: 'a\n   b\n\n   @c'",
		"double quotes":                  `k: "a @b"`,
		"escaped quotes":                 `k: "a \"x\" @b"`,
		"escaped backslash":              `k: "a \\ @b"`,
		"escaped line break":             `k: "a\nb @c"`,
		"escaped tab":                    `k: "a\tb @c"`,
		"escaped by its number":          `k: "\u00fc\x41\U0001F642 @c"`,
		"an escaped space":               "k: \"a\\ @c\"",
		"double quotes over lines":       "k: \"a\n   b\n\n   @c\"",
		"double quotes, line continued":  "k: \"a \\\n   @c\"",
		"double quotes in a list":        "k:\n  - {a: \"x\", b: \"y @z\"}",
		"folded":                         "k: >\n  a\n  b @c",
		"folded with a strip":            "k: >-\n  a\n  b @c\n",
		"folded with a blank line":       "k: >-\n  a\n\n\n  b @c",
		"folded with deeper lines":       "k: >-\n  a\n    b\n  @c",
		"folded with an indentation":     "k: >2-\n  a\n  @c",
		"folded, deep in the document":   "x:\n  - y:\n      k: >-\n        a\n        @c",
		"folded after a comment":         "k: >- # why\n  a\n  @c",
		"literal":                        "k: |\n  a\n  b @c",
		"literal with deeper lines":      "k: |-\n  a\n      @c",
		"literal beginning with a break": "k: |\n\n  a @c",
		"multi-byte before":              "k: \"ü 北京 🙂\" \nj: ü 北京 🙂 @c",
		"multi-byte in the scalar":       `k: "ü \"北京\" 🙂 @c"`,
		"multi-byte over lines":          "k: >-\n  ü\n  北京 🙂 @c",
		"carriage returns":               "a: b\r\nk: c @d\r\n",
		"carriage returns, folded":       "k: >-\r\n  a\r\n  b @c\r\n",
		"a byte order mark":              "\ufeffk: a @b",
		"a tab before":                   "k:\t\"a\t@b\"",
		"the second document":            "a: b\n---\nk: c @d\n",
		"after a comment":                "# about\n\nk: c @d # trailing",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := false
			for _, document := range parse(t, text) {
				for _, n := range scalars(document) {
					at := slices.Index([]rune(n.Text), '@')
					if at < 0 {
						continue
					}
					found = true
					if diff := cmp.Diff(placeOf(strings.ReplaceAll(text, "\r", ""), '@'), n.At(at)); diff != "" {
						t.Errorf("the place of @ in %q (-want +got):\n%s", text, diff)
					}
				}
			}
			if !found {
				t.Errorf("no scalar of %q has the mark", text)
			}
		})
	}
}

// TestAtEveryCharacter walks a block scalar whose lines all differ: each
// character of the value must be found where the file shows it.
func TestAtEveryCharacter(t *testing.T) {
	t.Parallel()
	text := "k: >-\n  abc\n  def || ghi\n  jkl\n"
	lines := strings.Split(text, "\n")
	n := parse(t, text)[0].Get("k")
	for i, r := range []rune(n.Text) {
		at := n.At(i)
		if r == ' ' {
			continue // a folded break may be found on either line
		}
		if got := []rune(lines[at.Line-1])[at.Column-1]; got != r {
			t.Errorf("character %d (%q) is said to be at %s, where the file has %q", i, r, at, got)
		}
	}
}

// TestAtDoubledQuotes: in single quotes two quotes are one character.
func TestAtDoubledQuotes(t *testing.T) {
	t.Parallel()
	n := parse(t, "k: 'a == '''' b'")[0].Get("k") // a == '' b
	for i, want := range map[int]int{4: 9, 5: 10, 6: 12, 7: 14, 8: 15} {
		if got := n.At(i).Column; got != want {
			t.Errorf("character %d is said to be in column %d, not %d", i, got, want)
		}
	}
}

func TestAtBeyondTheEnd(t *testing.T) {
	t.Parallel()
	n := parse(t, "k: abc\n")[0].Get("k")
	want := Position{File: "f.yaml", Line: 1, Column: 7}
	if diff := cmp.Diff(want, n.At(99)); diff != "" {
		t.Errorf("behind the last character (-want +got):\n%s", diff)
	}
}

// TestAtWithoutSource: nodes made by the program itself have no file.
func TestAtWithoutSource(t *testing.T) {
	t.Parallel()
	n := &Node{Kind: String, Text: "abc"}
	if got := n.At(2); got != (Position{}) {
		t.Errorf("got %v", got)
	}
	if got := n.SourceLine(1); got != "" {
		t.Errorf("got %q", got)
	}
	var none *Node
	if none.Get("a") != nil || none.Plain() != nil || none.SourceLine(1) != "" {
		t.Error("a node that is not there has something")
	}
}

func TestSourceLine(t *testing.T) {
	t.Parallel()
	s := NewSource("f.yaml", []byte("first\r\nsecond ü\n\nlast"))
	for line, want := range map[int]string{-1: "", 0: "", 1: "first", 2: "second ü", 3: "", 4: "last", 5: ""} {
		if got := s.Line(line); got != want {
			t.Errorf("line %d is %q, not %q", line, got, want)
		}
	}
}
