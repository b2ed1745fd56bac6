package rego

import (
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
)

// MaxModule is the largest module that is read, in bytes.
const MaxModule = 64 << 10

// Module is the text of a Rego module.
type Module struct {
	// Name is the file's path, or what an inline module is called. Modules of
	// one library have different names; one that ends in _test.rego holds tests.
	Name string
	// Text is the module as Rego reads it.
	Text string
	// Node is the scalar of a YAML document that Text stands in; nil when the
	// module is a file of its own.
	Node *document.Node `json:"-"`
}

// IsTest reports whether the module holds tests.
func (m Module) IsTest() bool { return strings.HasSuffix(m.Name, "_test.rego") }

// source is a module's text, split so that places can be found in it.
type source struct {
	module Module
	lines  []string
}

func newSource(m Module) *source {
	return &source{module: m, lines: strings.Split(m.Text, "\n")}
}

// at turns a line and a column in characters, from 1, into a place of the file
// that the author sees.
func (s *source) at(row, col int) document.Position {
	if row < 1 || row > len(s.lines) {
		return s.start()
	}
	if s.module.Node == nil {
		return document.Position{File: s.module.Name, Line: row, Column: col}
	}
	before := max(0, col-1)
	for _, l := range s.lines[:row-1] {
		before += utf8.RuneCountInString(l) + 1
	}
	return s.module.Node.At(before)
}

func (s *source) start() document.Position {
	if s.module.Node == nil {
		return document.Position{File: s.module.Name}
	}
	return s.module.Node.Pos
}

// line returns the text of the line that a place stands on.
func (s *source) line(at document.Position) string {
	if s.module.Node != nil {
		return s.module.Node.SourceLine(at.Line)
	}
	if at.Line < 1 || at.Line > len(s.lines) {
		return ""
	}
	return strings.TrimSuffix(s.lines[at.Line-1], "\r")
}

// sources are the modules of a library by their names.
type sources map[string]*source

// at returns the place that OPA speaks of; the zero place when it is none of
// these modules.
func (ss sources) at(loc *ast.Location) document.Position {
	if loc == nil || ss[loc.File] == nil {
		return document.Position{}
	}
	return ss[loc.File].at(loc.Row, loc.Col)
}

// problem makes an error that stands where OPA says.
func (ss sources) problem(loc *ast.Location, message, hint string) document.Problem {
	p := document.Problem{Position: ss.at(loc), Severity: document.Error, Message: message, Hint: hint}
	if loc != nil && ss[loc.File] != nil {
		p.Source = ss[loc.File].line(p.Position)
	}
	return p
}
