package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// acceptance is a comment that accepts findings of a code.
type acceptance struct {
	document.Position
	code   document.Code
	reason string
	line   string
	used   bool
}

var (
	acceptComment = regexp.MustCompile(`(?:^|\s)#\s*edict:accept(?:\s+(\S+))?(?:\s+(.*\S))?\s*$`)
	commentOnly   = regexp.MustCompile(`^\s*#`)
	// blockHeader begins a text of several lines, in which there are no comments.
	blockHeader = regexp.MustCompile(`[|>][-+0-9]*\s*(#.*)?$`)
)

// file are the lines of a file, with its comments.
type file struct {
	lines    []string
	comments []*acceptance
}

// accepted leaves out the findings that comments accept, and adds what is wrong
// with the comments. Errors cannot be accepted.
func accepted(b *source.Bundle, list []document.Problem) []document.Problem {
	files := filesOf(b)
	out := &document.Problems{}
	for _, p := range list {
		if f := files[p.File]; f == nil || p.Severity == document.Error || !f.accepts(p) {
			out.Add(p)
		}
	}
	for _, f := range files {
		for _, a := range f.comments {
			a.check(out)
		}
	}
	return out.List()
}

// filesOf reads the files of policies and their Rego.
func filesOf(b *source.Bundle) map[string]*file {
	out := map[string]*file{}
	for _, u := range b.Units {
		if out[u.File.Path] == nil {
			out[u.File.Path] = newFile(u.File.Path, string(u.File.Text), true)
		}
		for _, m := range u.Modules {
			if out[m.Name] == nil {
				out[m.Name] = newFile(m.Name, m.Text, false)
			}
		}
	}
	return out
}

func newFile(path, text string, yaml bool) *file {
	f := &file{lines: strings.Split(text, "\n")}
	for i, line := range f.lines {
		m := acceptComment.FindStringSubmatchIndex(line)
		if m == nil || yaml && (f.header(i) >= 0 || strings.Count(line[:m[0]], `"`)%2 == 1) {
			continue
		}
		at := document.Position{File: path, Line: i + 1, Column: len([]rune(line[:m[0]+strings.Index(line[m[0]:], "#")])) + 1}
		f.comments = append(f.comments, &acceptance{Position: at, code: document.Code(group(line, m, 1)), reason: group(line, m, 2), line: line})
	}
	return f
}

func group(line string, match []int, n int) string {
	if match[2*n] < 0 {
		return ""
	}
	return line[match[2*n]:match[2*n+1]]
}

// header returns the index of the line that begins the text of several lines that
// a line is part of; -1 when it is part of none.
func (f *file) header(at int) int {
	own := document.Indentation(f.lines[at])
	for i := at - 1; i >= 0; i-- {
		if strings.TrimSpace(f.lines[i]) == "" || document.Indentation(f.lines[i]) >= own {
			continue
		}
		if blockHeader.MatchString(f.lines[i]) && !commentOnly.MatchString(f.lines[i]) {
			return i
		}
		if own = document.Indentation(f.lines[i]); own == 0 {
			return -1
		}
	}
	return -1
}

// accepts reports whether a comment on the line of a finding, or directly above it,
// accepts it. A finding inside a text of several lines is accepted where that begins.
func (f *file) accepts(p document.Problem) bool {
	at := p.Line - 1
	if at < 0 || at >= len(f.lines) {
		return false
	}
	if header := f.header(at); header >= 0 {
		at = header
	}
	first := at
	for first > 0 && commentOnly.MatchString(f.lines[first-1]) {
		first--
	}
	found := false
	for _, a := range f.comments {
		if a.Line-1 >= first && a.Line-1 <= at && a.code == p.Code && a.reason != "" {
			a.used, found = true, true
		}
	}
	return found
}

// check reports a comment that is no use.
func (a *acceptance) check(problems *document.Problems) {
	add := func(code document.Code, hint, message string) {
		p := code.At(a.Position, hint, message)
		p.Source = strings.TrimRight(a.line, "\r")
		problems.Add(p)
	}
	severity, known := document.Severities[a.code]
	switch {
	case !known:
		add(document.AcceptanceInvalid, document.DidYouMean(string(a.code), codes()), "there is no finding with the code \""+string(a.code)+"\"")
	case severity == document.Error:
		add(document.AcceptanceInvalid, "", "\""+string(a.code)+"\" is an error and cannot be accepted")
	case a.reason == "":
		add(document.AcceptanceInvalid, "# edict:accept "+string(a.code)+" why it is right here", "this acceptance has no reason")
	case !a.used && a.code != document.Authority: // which is found only with another policy
		add(document.AcceptanceUnused, "remove the comment", "this accepts nothing: there is no "+string(a.code)+" here")
	}
}

func codes() []string {
	out := make([]string, 0, len(document.Severities))
	for code := range document.Severities {
		out = append(out, string(code))
	}
	slices.Sort(out)
	return out
}
