package check

import (
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// policy is a policy under check.
type policy struct {
	plan     *plan.Policy
	unit     *source.Unit
	bundle   *source.Bundle
	problems *document.Problems
	text     *document.Source
}

// report adds a finding, with the line that it is on.
func (p *policy) report(code document.Code, at document.Position, hint, message string) {
	found := code.At(at, hint, message)
	if at.File == p.text.File {
		found.Source = p.text.Line(at.Line)
	}
	p.problems.Add(found)
}

// wrong reports whether a file has errors.
func wrong(b *source.Bundle, file string) bool {
	return slices.ContainsFunc(b.Problems, func(p document.Problem) bool { return p.File == file && p.Severity == document.Error })
}
