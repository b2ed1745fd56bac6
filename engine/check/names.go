package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// documentNames finds allowances for the name of a document with several kinds: they
// hold for none of its policies.
func documentNames(b *source.Bundle, problems *document.Problems) {
	for i := range b.Allowances {
		name := b.Allowances[i].Policy
		kinds := kindsOf(b, name.Value)
		if len(kinds) == 0 {
			continue
		}
		found := document.UnknownPolicy.At(name.Pos(), "allow each that needs it: policy: "+strings.Join(kinds, ", policy: "),
			fmt.Sprintf("%q is a document for several kinds, and an allowance is for one policy: this one has no effect", name.Value))
		found.Source = name.Node.SourceLine(name.Pos().Line)
		problems.Add(found)
	}
}

// kindsOf returns the names of the policies of a document with several kinds; none if a
// policy has the name itself.
func kindsOf(b *source.Bundle, name string) (out []string) {
	for _, u := range b.Units {
		switch {
		case u.Name() == name:
			return nil
		case u.Document.Of == name && name != "" && !slices.Contains(out, u.Name()):
			out = append(out, u.Name())
		}
	}
	return out
}
