package check

import (
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/source"
)

// policyCopy is everything that a policy decides by, for another process.
type policyCopy struct {
	Policy, Set, Revision string
	File                  load.Source
	Modules               []rego.Module
	Overrides             map[string]compile.Override
}

func copyOf(u *source.Unit) *policyCopy {
	return &policyCopy{u.Name(), u.Document.Set, u.Revision(), u.File, u.Modules, u.Overrides}
}

// unit restores the policy; nil if the text does not have it.
func (c *policyCopy) unit() *source.Unit {
	u := &source.Unit{File: c.File, Modules: c.Modules, Overrides: c.Overrides}
	found, _ := load.Documents(c.File.Path, c.File.Text)
	for _, doc := range found.Policies {
		if doc.Metadata.Name.Value != c.Policy {
			continue
		}
		doc.Set = c.Set
		if u.Document = doc; u.Revision() == c.Revision { // another one may have the name
			return u
		}
	}
	return nil
}
