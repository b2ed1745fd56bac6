package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/edict-dev/edict/engine/document"
)

// Library is what the modules of a policy compile to. It is immutable and safe
// for concurrent use.
type Library struct {
	in      Evaluator
	id      string
	modules []Module
	sources sources
	outline outline
}

// Compile has modules that refer to each other checked by an evaluator, which
// is also to run them, and makes a library of them. When a problem is an error,
// there is no library. The error is that of an evaluator that gave no answer, such as one
// that met a limit; the problems say so, too.
func Compile(in Evaluator, modules []Module) (*Library, []document.Problem, error) {
	l := &Library{in: in, id: identify(modules), modules: modules, sources: sources{}}
	problems := &document.Problems{}
	l.read(problems)
	if problems.HasErrors() {
		return nil, problems.List(), nil
	}
	text, err := in.Do(context.Background(), &Request{ID: l.id, Modules: modules})
	if err == nil {
		err = json.Unmarshal(text, &l.outline)
	}
	if err != nil {
		problems.Errorf(l.first(), "the modules cannot be compiled: %v", err)
		return nil, problems.List(), err
	}
	for _, p := range l.outline.Problems {
		problems.Add(l.place(p))
	}
	if problems.HasErrors() {
		return nil, problems.List(), nil
	}
	return l, problems.List(), nil
}

// identify returns a digest of modules.
func identify(modules []Module) string {
	h := sha256.New()
	for _, m := range modules {
		fmt.Fprintf(h, "%d:%s%d:%s", len(m.Name), m.Name, len(m.Text), m.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// read takes in what can be said about the modules without reading them.
func (l *Library) read(problems *document.Problems) {
	for _, m := range l.modules {
		s := newSource(m)
		switch {
		case l.sources[m.Name] != nil:
			problems.Errorf(s.start(), "two modules are called %q", m.Name)
			continue
		case len(m.Text) > MaxModule:
			problems.Hintf(s.start(), "split it into several modules", "the module has %d bytes, at most %d are read", len(m.Text), MaxModule)
		}
		l.sources[m.Name] = s
	}
}

func (l *Library) first() document.Position {
	if len(l.modules) == 0 {
		return document.Position{}
	}
	return l.sources[l.modules[0].Name].start()
}

// place turns the place of a problem in a module's text into the one that the
// author sees.
func (l *Library) place(p document.Problem) document.Problem {
	if p.Position == (document.Position{}) {
		p.Position = l.first()
		return p
	}
	p.Position, p.Source = l.at(p.Position)
	return p
}

// at turns a place in a module's text into the one that the author sees, and
// returns its line.
func (l *Library) at(in document.Position) (at document.Position, line string) {
	s := l.sources[in.File]
	if s == nil {
		return document.Position{}, ""
	}
	at = s.at(in.Line, in.Column)
	return at, s.line(at)
}

// problem makes a problem at a place in a module's text.
func (l *Library) problem(in document.Position, severity document.Severity, message, hint string) document.Problem {
	at, line := l.at(in)
	return document.Problem{Position: at, Severity: severity, Message: message, Hint: hint, Source: line}
}

// reachable returns the rules that some rules need, themselves included, in the
// order of the files.
func (l *Library) reachable(name string) []*ruleOutline {
	seen := make([]bool, len(l.outline.Rules))
	var queue []int
	for i := range l.outline.Rules {
		if l.outline.Rules[i].gives(name) {
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if !seen[i] {
			seen[i] = true
			queue = append(queue, l.outline.Rules[i].Uses...)
		}
	}
	var out []*ruleOutline
	for i, is := range seen {
		if is {
			out = append(out, &l.outline.Rules[i])
		}
	}
	return out
}
