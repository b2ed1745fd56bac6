package check

import (
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// Place is a place that a finding is about besides its own.
type Place struct {
	At document.Position
	// Message says what is there.
	Message string
}

// Related are the other places of findings: what one policy does to another is found in
// one of them.
type Related map[document.Problem][]Place

// About returns the findings in a file, also in the texts of ConfigMaps in it, and those of policies in other files that are
// about it, with the other places that they are about. They are those of [Findings].
func About(b *source.Bundle, file string) ([]document.Problem, Related) {
	in := func(path string) bool { return b.File(path) == file }
	list, related := findings(b, func(u *source.Unit) bool { return in(u.File.Path) })
	return slices.DeleteFunc(list, func(p document.Problem) bool {
		return !in(p.File) && !slices.ContainsFunc(related[p], func(other Place) bool { return in(other.At.File) })
	}), related
}

// twice adds where the policies are defined that others have the names of.
func twice(b *source.Bundle, related Related) {
	names := map[string]*source.Unit{}
	for _, u := range b.Units {
		first := names[u.ID()]
		if first == nil {
			names[u.ID()] = u
			continue
		}
		p := source.Twice(u, first)
		related[p] = append(related[p], Place{first.Document.Metadata.Name.Pos(), "the first definition of " + u.Name()})
	}
}
