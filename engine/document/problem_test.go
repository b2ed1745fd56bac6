package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPositionText(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]Position{
		"":      {},
		"f":     {File: "f"},
		"f:3":   {File: "f", Line: 3},
		"f:3:7": {File: "f", Line: 3, Column: 7},
		"3:7":   {Line: 3, Column: 7}, // whoever names the file adds it
	} {
		if got := p.String(); got != want {
			t.Errorf("%#v is written %q, not %q", p, got, want)
		}
	}
}

// TestLongTextsAreCut: a person is not shown a name of a hundred kilobytes, nor its line.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 50_000)
	p := Problem{Position: Position{File: "f", Line: 1, Column: 9}, Severity: Error, Message: long, Hint: long, Source: long}
	if got := p.Pretty(); len(got) > 3*maxShown || !strings.HasPrefix(got, "f:1:9: error: ää") {
		t.Errorf("%d bytes: %.50s", len(got), got)
	}
}

func TestProblemsAreListedInOrderAndOnce(t *testing.T) {
	t.Parallel()
	var ps Problems
	at := func(file string, line, column int) Position { return Position{File: file, Line: line, Column: column} }
	ps.Errorf(at("b", 1, 1), "one")
	ps.Reportf(NoRules, at("a", 2, 9), "", "two")
	ps.Hintf(at("a", 2, 3), "do so", "three %d", 3)
	ps.Errorf(at("a", 1, 7), "four")
	ps.Errorf(at("a", 1, 7), "four")
	ps.Append([]Problem{{Position: at("b", 1, 1), Severity: Error, Message: "one"}})
	var got []string
	for _, p := range ps.List() {
		got = append(got, string(p.Severity)+" "+p.Error())
	}
	want := []string{"error a:1:7: four", "error a:2:3: three 3 (do so)", "warning a:2:9: two", "error b:1:1: one"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWarningsAreNoError(t *testing.T) {
	t.Parallel()
	var ps Problems
	ps.Reportf(NoRules, Position{}, "", "careful")
	if ps.HasErrors() || ps.Err() != nil {
		t.Errorf("a warning counts as an error: %v", ps.Err())
	}
	ps.Errorf(Position{File: "f", Line: 1}, "wrong")
	if !ps.HasErrors() || ps.Err() == nil || ps.Err().Error() != "f:1: wrong" {
		t.Errorf("got %v", ps.Err())
	}
}

// TestYAMLHints: what YAML cannot read comes with its usual cause.
func TestYAMLHints(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rules:\n  - name: a\n - name: b\n": "indentation differs",
		"a: 1\n  b: 2\n":                    "indented further than the field above it",
		"when: a ? b : c\n":                 "must stand in quotes",
		"x: {name: ${x}}\n":                 "stands in quotes",
		"x: {name: a, e: b.?c}\n":           "with ${ }, .?, a comma",
		"x: {${x}: }\n":                     "stands in quotes",
		"message: \"a \"b\" c\"\n":          "a quote in the line before ends a text too early",
		"x: `a`\n":                          "stands in quotes",
		"x: \"abc\n":                        "is never closed",
		"a:\n\t- b\n":                       "not tabs",
		"a:\n  x: {name: '${b} c}}\n":       "is never closed",
	} {
		var problems Problems
		Parse("f.yaml", []byte(text), &problems)
		if list := problems.List(); len(list) == 0 || !strings.Contains(list[0].Hint, want) {
			t.Errorf("%q: got %+v, want the hint %q", text, list, want)
		}
	}
}

// TestControlCharacters: what a terminal would obey in a file that is checked is shown, not
// sent to it.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	p := Problem{Position: Position{File: "f\x1b[2J", Line: 1, Column: 4}, Severity: Error, Message: "no \x1b]0;x\a", Source: "a:\t\u202e\x9b1mb", Hint: "\x7f"}
	const want = "f\ufffd[2J:1:4: error: no \ufffd]0;x\ufffd\n    a:\t\ufffd\ufffd1mb\n      \t^\n    \ufffd"
	if got := p.Pretty(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Error(); got != "f\ufffd[2J:1:4: no \ufffd]0;x\ufffd (\ufffd)" {
		t.Errorf("got %q", got)
	}
}

// TestManyErrors: of very many errors the first are written out, and the number of the others.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	var list []Problem
	for i := range 5000 {
		list = append(list, Problem{Position: Position{File: "f.yaml", Line: i + 1, Column: 1}, Severity: Error, Message: "wrong"})
	}
	lines := strings.Split(Join(list).Error(), "\n")
	if len(lines) != maxJoined+1 || lines[maxJoined] != "4900 more errors are not shown" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
