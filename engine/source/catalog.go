package source

import (
	"slices"

	"github.com/edict-dev/edict/engine/compile"
)

// Catalog has the texts of several PolicySets.
type Catalog struct {
	Contents []*Contents
	// Units are the policies by ID, Origins what they are from.
	Units   map[string]*Unit
	Origins map[string]*Contents
}

// NewCatalog puts contents together. Typed values win over theirs.
func NewCatalog(contents []*Contents, typed compile.Overrides) *Catalog {
	c := &Catalog{Contents: contents, Units: map[string]*Unit{}, Origins: map[string]*Contents{}}
	for _, one := range contents {
		for _, u := range one.Units {
			c.Units[u.ID()], c.Origins[u.ID()] = u.With(typed), one
		}
	}
	return c
}

// Has reports whether there is a policy, or a document, of a name.
func (c *Catalog) Has(name string) bool { return len(c.Named(name)) > 0 }

// Named returns the IDs of the policies of a name, or of the document of that name,
// sorted.
func (c *Catalog) Named(name string) (ids []string) {
	for id, u := range c.Units {
		if u.Named(name) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
