package plan

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
)

// LeftChildren are children of a kind whose objects stay: the policy no longer names the kind.
type LeftChildren struct {
	Kind schema.GVK
	// Sets are the names of those that had objects of the kind.
	Sets []string
}

// String returns it as a sentence without a subject.
func (l LeftChildren) String() string {
	return fmt.Sprintf("has no child of kind %s any more: the objects of the child %s stay", l.Kind.Kind, strings.Join(l.Sets, ", "))
}

// ChildrenLeft returns what an edit leaves of the children of a policy, in their order; after
// is nil if the policy goes.
func ChildrenLeft(before, after *Policy) (out []LeftChildren) {
	for set, kind := range before.sets() {
		if after != nil && after.keeps(kind) {
			continue
		}
		i := slices.IndexFunc(out, func(l LeftChildren) bool { return l.Kind == kind })
		if i < 0 {
			i, out = len(out), append(out, LeftChildren{Kind: kind})
		}
		out[i].Sets = append(out[i].Sets, set)
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

// keeps reports whether the policy has a set of children of a kind.
func (p *Policy) keeps(kind schema.GVK) bool {
	for _, own := range p.sets() {
		if own == kind {
			return true
		}
	}
	return false
}
