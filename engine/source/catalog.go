package source

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
)

// Catalog is what all ConfigMaps say together.
type Catalog struct {
	// Contents are the ConfigMaps of policies and Values those of params, the
	// older first.
	Contents []*Contents
	Values   []*Values
	// Units are the policies by ID, with the values for their params. Of two
	// with one ID the older ConfigMap's is here.
	Units map[string]*Unit
	// Origins are the ConfigMaps of the units, by ID.
	Origins map[string]*Contents
	// Conflicts are the problems that only show when all are looked at, by the
	// path of the ConfigMap that has to give way.
	Conflicts map[string][]document.Problem

	// rivals are the older ConfigMaps that have a policy of a ConfigMap, too, by its path.
	rivals map[string][]*Contents
}

// NewCatalog puts ConfigMaps together. Typed values win over theirs.
func NewCatalog(policies []*Contents, params []*Values, typed compile.Overrides) *Catalog {
	c := &Catalog{
		Contents: slices.SortedFunc(slices.Values(policies), func(a, b *Contents) int { return Older(a.ConfigMap, b.ConfigMap) }),
		Values:   slices.SortedFunc(slices.Values(params), func(a, b *Values) int { return Older(a.ConfigMap, b.ConfigMap) }),
		Units:    map[string]*Unit{}, Origins: map[string]*Contents{}, Conflicts: map[string][]document.Problem{},
		rivals: map[string][]*Contents{},
	}
	overrides := merged(c.Values, typed, c.conflict)
	for _, contents := range c.Contents {
		c.add(contents, overrides)
	}
	strangers(c.Values, c.Has, c.conflict)
	return c
}

// add takes in the units of a ConfigMap.
func (c *Catalog) add(contents *Contents, overrides compile.Overrides) {
	for _, u := range contents.Units {
		if first := c.Units[u.ID()]; first != nil {
			c.conflict(contents.ConfigMap, Twice(u, first))
			c.rivals[contents.Path()] = append(c.rivals[contents.Path()], c.Origins[u.ID()])
			continue
		}
		c.Units[u.ID()], c.Origins[u.ID()] = u.with(overrides, c.Values), contents
	}
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

// Undecided reports whether nobody knows the mode that is asked for a policy of a
// file: it may have run under another ID than the one that its text says.
func (c *Catalog) Undecided(policy, file string) bool {
	return slices.ContainsFunc(c.Contents, func(contents *Contents) bool {
		return slices.ContainsFunc(contents.Units, func(u *Unit) bool { return u.Undecided && u.Name() == policy && u.File.Path == file })
	})
}

// Untold reports whether nobody knows now what a file says of a policy: the policy may be
// in what cannot be read, or have another mode than the one that is asked for.
func (c *Catalog) Untold(policy, file string) bool {
	return c.Unreadable(file) || c.Undecided(policy, file)
}

// Hold keeps a policy for the file that it was last found in, while nobody knows whether
// it is still there: one of the same ID that comes after it, in a younger ConfigMap or
// another file, would be refused if it were, and must not replace what runs.
func (c *Catalog) Hold(id, file string) {
	u := c.Units[id]
	if u == nil || u.File.Path == file || !c.Untold(u.Name(), file) || !c.before(file, u.File.Path) {
		return
	}
	c.conflict(c.Origins[id].ConfigMap, heldFor(u, file))
	delete(c.Units, id)
	delete(c.Origins, id)
}

// before reports whether a policy in a file is right against one in another file.
func (c *Catalog) before(file, other string) bool {
	age := func(file string) int { return slices.Index(c.Contents, c.ContentsOf(file)) }
	return cmp.Or(cmp.Compare(age(file), age(other)), cmp.Compare(file, other)) < 0
}

// ContentsOf returns the ConfigMap that has, or had, a file as a key; nil if there is no
// such ConfigMap.
func (c *Catalog) ContentsOf(file string) *Contents {
	at := slices.IndexFunc(c.Contents, func(contents *Contents) bool { return contents.Path() == path.Dir(file) })
	if at < 0 {
		return nil
	}
	return c.Contents[at]
}

// Stopped reports whether the annotation of the ConfigMap that a policy was in ends what
// the policy does in a mode, whatever else is in it: what cannot be read can be
// stopped. File is where the policy was last found.
func (c *Catalog) Stopped(was *Unit, file string, shadow bool) bool {
	contents := c.ContentsOf(file)
	if contents == nil {
		return false
	}
	mode := contents.modeOf(was.Name(), was.Document.Of)
	return mode == v1alpha1.ModeDisabled || mode == v1alpha1.ModeShadow && !shadow
}

// Unreadable reports whether something in a file cannot be read: a policy that is
// missing may well be there.
func (c *Catalog) Unreadable(file string) bool {
	return slices.ContainsFunc(c.Contents, func(contents *Contents) bool {
		return slices.ContainsFunc(contents.Problems, func(p document.Problem) bool {
			return p.Severity == document.Error && p.File == file
		})
	})
}

func (c *Catalog) conflict(m *ConfigMap, p document.Problem) {
	c.Conflicts[m.Path()] = append(c.Conflicts[m.Path()], p)
}

// ordered goes through a mapping by its sorted keys: what is told in another
// order would be told anew.
func ordered[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
