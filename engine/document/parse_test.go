package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// messages returns the problems of a text as file:line:col: message.
func messages(text string) []string {
	var problems Problems
	Parse("f.yaml", []byte(text), &problems)
	var out []string
	for _, p := range problems.List() {
		out = append(out, p.Error())
	}
	return out
}

func TestKindsOfScalars(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		kind  Kind
		plain any
	}{
		"abc":                  {String, "abc"},
		`"1"`:                  {String, "1"},
		"'true'":               {String, "true"},
		"|\n  1":               {String, "1"},
		"1":                    {Int, int64(1)},
		"-5":                   {Int, int64(-5)},
		"0x1F":                 {Int, int64(31)},
		"0o17":                 {Int, int64(15)},
		"1_000":                {Int, int64(1000)},
		"1.10":                 {Float, 1.1},
		"1e3":                  {Float, 1000.0},
		"true":                 {Bool, true},
		"False":                {Bool, false},
		"~":                    {Null, nil},
		"":                     {Null, nil},
		"null":                 {Null, nil},
		"2026-03-01":           {String, "2026-03-01"},
		"2026-03-01T12:00:00Z": {String, "2026-03-01T12:00:00Z"},
		"1.2.3":                {String, "1.2.3"},
		"10m":                  {String, "10m"},
		"yes":                  {Bool, true},
		"[a, 1]":               {List, []any{"a", int64(1)}},
		"{a: {b: 1}}":          {Map, map[string]any{"a": map[string]any{"b": int64(1)}}},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			n := parse(t, "k: "+text)[0].Get("k")
			if n.Kind != want.kind {
				t.Errorf("it is read as %s, not as %s", n.Kind, want.kind)
			}
			if diff := cmp.Diff(want.plain, n.Plain()); diff != "" {
				t.Errorf("as plain JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuotedIsRemembered(t *testing.T) {
	t.Parallel()
	n := parse(t, "a: plain\nb: 'x'\nc: \"x\"\nd: |\n  x\ne: >\n  x\n")[0]
	for key, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "e": true} {
		if got := n.Get(key).Quoted; got != want {
			t.Errorf("%s: Quoted is %v", key, got)
		}
	}
}

func TestDocumentsOfAFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                          0,
		"\n# only a comment\n":      0,
		"---\n---\n---\n":           0,
		"a: b":                      1,
		"a: b\n---\nc: d":           2,
		"---\na: b\n...\n---\nc: d": 2,
		"\ufeffa: b":                1,
		"a: b\r\n---\r\nc: d\r\n":   2,
		"text":                      1,
	} {
		if got := len(parse(t, text)); got != want {
			t.Errorf("%q has %d documents, not %d", text, got, want)
		}
	}
}

// TestRefusals are texts that YAML can read and this language does not.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"a key that stands twice": {
			"a: 1\nb: 2\na: 3\n",
			[]string{`f.yaml:3:1: duplicate key "a", first on line 1`},
		},
		"a key that stands twice, nested": {
			"x:\n  - {a: 1, a: 2}\n",
			[]string{`f.yaml:2:12: duplicate key "a", first on line 2`},
		},
		"a key quoted and not": {
			"a: 1\n\"a\": 2\n",
			[]string{`f.yaml:2:1: duplicate key "a", first on line 1`},
		},
		"an anchor and an alias": {
			"a: &x 1\nb: *x\n",
			[]string{
				"f.yaml:1:4: YAML anchors (&x) are not read (leave it out; an expression that begins with & stands in quotes)",
				"f.yaml:2:4: YAML aliases (*x) are not read (write the value out)",
			},
		},
		"a merge": {
			"a: {b: 1}\nc:\n  <<: {d: 1}\n",
			[]string{"f.yaml:3:3: the YAML tag !!merge is not read"},
		},
		"an expression that begins with an exclamation mark": {
			"when: !ready\n",
			[]string{`f.yaml:1:7: YAML reads a leading ! as a tag (put the expression in quotes: "!ready")`},
		},
		"a tag for a text": {
			"a: !!str b\n",
			[]string{"f.yaml:1:4: the YAML tag !!str is not read"},
		},
		"a tag of YAML": {
			"a: !!binary aGk=\n",
			[]string{"f.yaml:1:4: the YAML tag !!binary is not read"},
		},
		"a mapping as a key": {
			"{a: 1}: b\n",
			[]string{"f.yaml:1:1: a key must be a plain word (put a value that begins with { or [ in quotes)"},
		},
		"a list as a key": {
			"? [a]\n: b\n",
			[]string{"f.yaml:1:3: a key must be a plain word (put a value that begins with { or [ in quotes)"},
		},
		"several at once": {
			"a: *x\na: 1\nb: !c d\n",
			[]string{"f.yaml:1:1: not valid YAML: unknown anchor 'x' referenced"},
		},
		"several of ours at once": {
			"a: &x 1\na: 1\nb: !c d\ne: *x\n",
			[]string{
				"f.yaml:1:4: YAML anchors (&x) are not read (leave it out; an expression that begins with & stands in quotes)",
				`f.yaml:2:1: duplicate key "a", first on line 1`,
				`f.yaml:3:4: YAML reads a leading ! as a tag (put the expression in quotes: "!c d")`,
				"f.yaml:4:4: YAML aliases (*x) are not read (write the value out)",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, messages(tc.text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestBoundsOfADocument: what is refused before it is understood.
func TestBoundsOfADocument(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	nested := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s- a:\n", strings.Repeat("    ", i))
		}
		return b.String()
	}
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for name, tc := range map[string]struct {
		text, want string
	}{
		"as deep as allowed":   {deep(MaxDepth), ""},
		"one deeper":           {deep(MaxDepth + 2), "nested more than 64 deep"},
		"blocks too deep":      {nested(MaxDepth), "nested more than 64 deep"},
		"20,000 brackets":      {deep(20_000), "exceeded max depth"},
		"as large as allowed":  {"a: " + strings.Repeat("x", MaxBytes-3), ""},
		"one byte larger":      {"a: " + strings.Repeat("x", MaxBytes-2), "the file has 262145 bytes, at most 262144 are read (split it into several files)"},
		"ten megabytes":        {"a: " + strings.Repeat("x", 10<<20), "at most 262144 are read"},
		"aliases that explode": {bomb, "aliases (*i) are not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(messages(tc.text), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %.300q, want %q", got, tc.want)
			}
		})
	}
}

// TestUnreadable: malformed, truncated and binary input is refused with its
// line, never with a panic.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, want string
	}{
		"a conditional without quotes": {
			"a: x\nb: c ? d : e\n",
			`f.yaml:2:1: not valid YAML: mapping values are not allowed in this context (an expression with ": " in it, such as a ? b : c, must stand in quotes)`,
		},
		"a leading !":            {"a: b\nwhen: !has(x) && y\n", `f.yaml:2:1: not valid YAML: did not find expected alphabetic or numeric character (an expression that begins with ! stands in quotes, as in when: '!has(object.spec.x)')`},
		"a leading quote":        {"a: b\nwhen: \"a\" in x\n", `f.yaml:2:1: not valid YAML: did not find expected key (an expression that begins with " stands in quotes, as in when: '"a" in object.spec.list')`},
		"a leading bracket":      {"a: b\nwhen: [\"a\"].exists(x, x == y)\n", `f.yaml:2:1: not valid YAML: did not find expected key (an expression that begins with [ stands in quotes, as in when: '["a", "b"].exists(x, x == object.spec.y)')`},
		"an open quote":          {"a: \"b\n", "f.yaml:1:1: not valid YAML: found unexpected end of stream"},
		"a tab as indentation":   {"a:\n\tb: c\n", "f.yaml:2:1: not valid YAML: found character that cannot start any token"},
		"an item too far left":   {"a:\n  b:\n    - c: 1\n      d: 2\n    - c: 3\n     d: 4\n    - c: 5\n", "f.yaml:6:6: not valid YAML: did not find expected '-' indicator (the indentation differs from the lines above"},
		"a field too far left":   {"# x\na:\n  b: 1\n c: 2\nd: 3\n", "f.yaml:4:2: not valid YAML: did not find expected key (the indentation differs"},
		"a quote in a list":      {"a: [b, c]\nd:\n  - [e, \"f\"g\"]\n  - h\n", "f.yaml:3:3: not valid YAML: did not find expected ',' or ']'"},
		"a bracket of long ago":  {"a: [b,\n  c]\nd: {e: f\ng: h\ni: j\n", "f.yaml:3:1: not valid YAML: did not find expected ',' or '}'"},
		"a second document":      {"a: b\n---\nc: d\n e: f\n", "f.yaml:4:2: not valid YAML: "},
		"too long to try":        {"a:\n" + strings.Repeat("  - "+strings.Repeat("x", 96)+"\n", 2000) + " b: c\nd: e\n", "f.yaml:2002:2: not valid YAML: "},
		"far above the end":      {"a: b\n c: d\n" + strings.Repeat("e: "+strings.Repeat("x", 96)+"\n", 2000), "f.yaml:"},
		"a NUL":                  {"a: \x00\n", "f.yaml:1:1: not valid YAML: control characters are not allowed"},
		"bytes that are no text": {"a: \xff\xfe\xfd\n", "f.yaml:1:1: not valid YAML: invalid leading UTF-8 octet"},
		"a picture":              {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "f.yaml:1:1: not valid YAML: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(messages(tc.text), "\n")
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestBrokenDocumentKeepsThoseBefore: what stands above is still read.
func TestBrokenDocumentKeepsThoseBefore(t *testing.T) {
	t.Parallel()
	var problems Problems
	nodes := Parse("f.yaml", []byte("a: b\n---\nc: [d\n---\ne: f\n"), &problems)
	if len(nodes) != 1 || !problems.HasErrors() {
		t.Errorf("%d documents, problems %v", len(nodes), problems.List())
	}
}

func TestParseUnboundedTakesAnySize(t *testing.T) {
	t.Parallel()
	var problems Problems
	nodes := ParseUnbounded("f.yaml", []byte("a: "+strings.Repeat("x", 2*MaxBytes)), &problems)
	if len(nodes) != 1 || problems.HasErrors() {
		t.Errorf("%d documents, problems %v", len(nodes), problems.List())
	}
}

// FuzzParse: whatever the bytes are, reading them ends without a panic, and
// every position that is given lies inside the file.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: b\n", "k: >-\n  a\n\n  b @c\n", `k: "a \"x\" \u00fc \\ b"`, "k: 'it''s'\n", "- a\n- [b, {c: d}]\n", "a: &x 1\nb: *x\n",
		"when: !ready\n", "\ufeffa: b\r\n---\r\nc: |\r\n  d\r\n", "? [a]\n: b\n", "a: \x00", "a: \xff", "{a: ${b}}", "a:\rb", "a: \"x\u2028y\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var problems Problems
		nodes := Parse("f.yaml", text, &problems)
		source := NewSource("f.yaml", []byte(strings.TrimPrefix(string(text), "\ufeff")))
		for _, p := range problems.List() {
			inside(t, source, p.Position)
		}
		for _, n := range nodes {
			everywhere(t, source, n)
		}
	})
}

// everywhere asks for the place of every character below a node.
func everywhere(t *testing.T, source *Source, n *Node) {
	t.Helper()
	inside(t, source, n.Pos)
	n.Plain()
	for i := range []rune(n.Text) {
		inside(t, source, n.At(i))
	}
	for _, inner := range append(append([]*Node{}, n.Keys...), n.Values...) {
		everywhere(t, source, inner)
	}
}

// inside fails when a position does not lie in the file. The end of a line,
// and the line after the last, are places too.
func inside(t *testing.T, source *Source, at Position) {
	t.Helper()
	if at.Line < 0 || at.Line > len(source.lines)+1 || at.Column < 0 {
		t.Fatalf("%s lies outside of the file", at)
	}
	if at.Line >= 1 && at.Column > len([]rune(source.Line(at.Line)))+1 {
		t.Fatalf("%s lies behind the end of the line", at)
	}
}
