package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Severity reports whether a problem refuses the document.
type Severity string

// The severities. An Error refuses the document, a Warning and a Note do not; a
// Note may well be meant.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Position is a place in a file. Line and Column count from 1; Column counts
// characters, not bytes. The zero Position means "the whole file".
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:col, leaving out what is not known.
func (p Position) String() string {
	out := p.File
	for _, n := range []int{p.Line, p.Column} {
		if n == 0 {
			break
		}
		out += ":" + strconv.Itoa(n)
	}
	if p.File == "" {
		out = strings.TrimPrefix(out, ":")
	}
	return out
}

// Problem is one thing wrong with a document: what, where, and how to mend it.
type Problem struct {
	Position
	Severity Severity `json:"severity"`
	// Code is empty for an error without a code of its own.
	Code Code `json:"code,omitempty"`
	// Message says what is wrong, in one line.
	Message string `json:"message"`
	// Hint says how to mend it; may be empty.
	Hint string `json:"hint,omitempty"`
	// Source is the line the problem stands on, without its newline.
	Source string `json:"source,omitempty"`
}

// Error makes a Problem usable as an error: file:line:col: message.
func (p Problem) Error() string {
	text := p.Message
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	if at := p.Position.String(); at != "" {
		text = at + ": " + text
	}
	return visible(text)
}

// Pretty writes file:line:col: severity: message, then the line with a caret
// and the hint, as far as they are known.
func (p Problem) Pretty() string {
	out := fmt.Sprintf("%s: %s", p.Severity, cut(p.Message))
	if at := p.Position.String(); at != "" {
		out = at + ": " + out
	}
	if p.Source != "" && p.Column > 0 && len(p.Source) <= maxShown {
		out += fmt.Sprintf("\n    %s\n    %s^", p.Source, indent(p.Source, p.Column-1))
	}
	if p.Hint != "" {
		out += "\n    " + cut(p.Hint)
	}
	return visible(out)
}

// maxShown is how much of a text is shown to a person, in bytes: a name of a stranger's
// file may be as long as the file.
const maxShown = 2000

func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "..."
}

// visible returns a text with a sign in place of each character that a terminal or an
// editor would obey: a checked file may be a stranger's.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if Obeyed(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Obeyed reports whether a terminal or an editor does something else with a character than
// to show it. The ends of lines and tabs are not counted.
func Obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// OneLine returns a name so that it cannot begin a line of its own.
func OneLine(name string) string { return strings.ReplaceAll(name, "\n", `\n`) }

// Indentation returns with how many spaces a line begins.
func Indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// indent returns white space as wide as the first n characters of a line.
func indent(line string, n int) string {
	var out strings.Builder
	for i, r := range []rune(line) {
		if i == n {
			return out.String()
		}
		if r == '\t' {
			out.WriteRune('\t')
		} else {
			out.WriteRune(' ')
		}
	}
	return out.String()
}

// Problems collects everything wrong with a document, so that its author sees
// all of it at once.
type Problems struct {
	list []Problem
	seen map[Problem]bool
}

// Errorf adds an error at a position.
func (ps *Problems) Errorf(at Position, format string, args ...any) {
	ps.Add(Problem{Position: at, Severity: Error, Message: fmt.Sprintf(format, args...)})
}

// Hintf adds an error with a hint that says how to mend it.
func (ps *Problems) Hintf(at Position, hint, format string, args ...any) {
	ps.Add(Problem{Position: at, Severity: Error, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// Reportf adds a problem of a code, which has the severity; hint may be empty.
func (ps *Problems) Reportf(code Code, at Position, hint, format string, args ...any) {
	ps.Add(code.At(at, hint, fmt.Sprintf(format, args...)))
}

// Add adds one problem; one that is already there is not repeated.
func (ps *Problems) Add(p Problem) {
	if ps.seen == nil {
		ps.seen = map[Problem]bool{}
	}
	if !ps.seen[p] {
		ps.seen[p] = true
		ps.list = append(ps.list, p)
	}
}

// Append adds all problems of another collection.
func (ps *Problems) Append(list []Problem) {
	for _, p := range list {
		ps.Add(p)
	}
}

// HasErrors reports whether any problem refuses the document.
func (ps *Problems) HasErrors() bool { return HasErrors(ps.list) }

// HasErrors reports whether any of these problems is an error.
func HasErrors(list []Problem) bool {
	return slices.ContainsFunc(list, func(p Problem) bool { return p.Severity == Error })
}

// Warnings returns those of these problems that are no errors.
func Warnings(list []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(list), func(p Problem) bool { return p.Severity == Error })
}

// List returns the problems in the order of the file.
func (ps *Problems) List() []Problem {
	out := slices.Clone(ps.list)
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return out
}

// Err returns the errors as one error, or nil if there are none.
func (ps *Problems) Err() error { return Join(ps.List()) }

// maxJoined is how many errors Join writes out.
const maxJoined = 100

// Join makes one error of the errors among these problems; nil if none. Of very many it
// writes the first, and the number of the others.
func Join(list []Problem) error {
	var lines []string
	errs := 0
	for _, p := range list {
		if p.Severity != Error {
			continue
		}
		if errs++; errs <= maxJoined {
			lines = append(lines, p.Error())
		}
	}
	if errs == 0 {
		return nil
	}
	if more := errs - maxJoined; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more errors are not shown", more))
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}
