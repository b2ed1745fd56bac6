package check

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/source"
)

// policyCopy is everything that a policy decides by, for another process.
type policyCopy struct {
	Policy    string                      `json:"policy"`
	Set       string                      `json:"set,omitempty"`
	Revision  string                      `json:"revision"`
	File      string                      `json:"file"`
	Text      string                      `json:"text"`
	Modules   map[string]string           `json:"modules,omitempty"`
	Overrides map[string]compile.Override `json:"overrides,omitempty"`
}

func copyOf(u *source.Unit) *policyCopy {
	c := &policyCopy{Policy: u.Name(), Set: u.Document.Set, Revision: u.Revision(), File: u.File.Path, Text: string(u.File.Text), Overrides: u.Overrides, Modules: map[string]string{}}
	for _, m := range u.Modules {
		c.Modules[m.Name] = m.Text
	}
	return c
}

// unit restores the policy; nil if the text does not have it.
func (c *policyCopy) unit() *source.Unit {
	u := &source.Unit{File: load.Source{Path: c.File, Text: []byte(c.Text)}, Overrides: c.Overrides}
	for _, name := range slices.Sorted(maps.Keys(c.Modules)) {
		u.Modules = append(u.Modules, rego.Module{Name: name, Text: c.Modules[name]})
	}
	found, _ := load.Documents(c.File, u.File.Text)
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
