package simulate

import (
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/source"
)

// GuardOf returns a guard with the allowances of the files and PolicySets of a bundle.
func GuardOf(b *source.Bundle) guard.Guard {
	g := guard.New(b.Allowances)
	for _, c := range b.Contents {
		if c.Set != nil {
			g.Add(c.Set.Name, c.Set.Pinned(), c.Set.Allowances())
		}
	}
	return g
}
