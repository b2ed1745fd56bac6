package plan

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/schema"
)

// AppliedPrefix begins the annotation in which a policy keeps a digest of what
// it has applied to an object; the policy's name follows.
const AppliedPrefix = "applied.edict.dev/"

// HeldPrefix and RatePrefix begin the annotations in which a rule keeps times. The policy and
// the rule follow.
const (
	HeldPrefix = "held.edict.dev/"
	RatePrefix = "rate.edict.dev/"
)

// MaxAhead is how far a time in such an annotation may lie ahead of now: the clock of another
// process may differ. A later one counts as none, or whoever may write annotations could keep a
// rule from running.
const MaxAhead = time.Minute

// domain is that of the marks which the engine keeps on objects. Texts of policies write no
// label and no annotation below it.
const domain = "edict.dev"

// Reserved reports whether a label or an annotation is in the domain of the engine.
func Reserved(key string) bool {
	prefix, _, has := strings.Cut(key, "/")
	return has && (prefix == domain || strings.HasSuffix(prefix, "."+domain))
}

// Marks reports whether a label or an annotation is one that the engine itself writes for a
// policy.
func Marks(policy, key string) bool {
	return key == AppliedPrefix+policy || key == children.UntilPrefix+policy || strings.HasPrefix(key, HeldPrefix+policy+".") || strings.HasPrefix(key, RatePrefix+policy+".") ||
		slices.Contains([]string{children.PolicyLabel, children.ChildLabel, children.PrimaryName, children.PrimaryNamespace, children.WhenUnwanted}, key)
}

// Left are children of a kind whose objects stay: the policy no longer names the kind.
type Left struct {
	Kind schema.GVK
	// Sets are the names of those that had objects of the kind.
	Sets []string
}

// String returns it as a sentence without a subject.
func (l Left) String() string {
	return fmt.Sprintf("has no child of kind %s any more: the objects of the child %s stay", l.Kind.Kind, strings.Join(l.Sets, ", "))
}

// ChildrenLeft returns what an edit leaves of the children of a policy, in their order; after
// is nil if the policy goes.
func ChildrenLeft(before, after *Policy) (out []Left) {
	for set, kind := range before.sets() {
		if after != nil && after.keeps(kind) {
			continue
		}
		i := slices.IndexFunc(out, func(l Left) bool { return l.Kind == kind })
		if i < 0 {
			i, out = len(out), append(out, Left{Kind: kind})
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
