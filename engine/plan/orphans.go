package plan

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
)

// Orphans are the objects of children that an edit does not delete, because the policy no
// longer has a child of their kind, or has fewer namespaces.
type Orphans struct {
	Kind schema.GVK
	// Children are the names of the children that had objects of the kind.
	Children []string
}

// String returns the end of a sentence that begins with the policy.
func (o Orphans) String() string {
	return fmt.Sprintf("no longer decides about all objects of kind %s: those of the child %s stay", o.Kind.Kind, strings.Join(o.Children, ", "))
}

// FindOrphans returns the orphans of an edit, by kind, in the order of the children. after is
// nil if the policy is removed.
func FindOrphans(before, after *Policy) (out []Orphans) {
	kept := map[schema.GVK]bool{}
	if after != nil && !narrower(before.Primary.Namespaces, after.Primary.Namespaces) {
		for _, kind := range after.sets() {
			kept[kind] = true
		}
	}
	for set, kind := range before.sets() {
		if kept[kind] {
			continue
		}
		i := slices.IndexFunc(out, func(o Orphans) bool { return o.Kind == kind })
		if i < 0 {
			i, out = len(out), append(out, Orphans{Kind: kind})
		}
		out[i].Children = append(out[i].Children, set)
	}
	return out
}

// sets visits the sets of children and their kinds.
func (p *Policy) sets() iter.Seq2[string, schema.GVK] {
	return func(yield func(string, schema.GVK) bool) {
		for _, r := range p.Rules {
			for a := range r.Actions() {
				if child, ok := a.(*Child); ok && r.Child != "" && child.Kept && !yield(r.Child, child.GVK) {
					return
				}
			}
		}
	}
}

// narrower reports whether namespaces, all if there are none, lack some of those before.
func narrower(before, after []string) bool {
	return len(after) > 0 && (len(before) == 0 || slices.ContainsFunc(before, func(n string) bool { return !slices.Contains(after, n) }))
}
