package release

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
)

// SetFinalizer is the finalizer of a PolicySet while objects may have finalizers of its policies.
const SetFinalizer = "edict.dev/release"

// Finalizer is a finalizer that policies set on objects of a kind.
type Finalizer struct {
	kschema.GroupKind
	// Namespace is the only namespace with such objects; empty means all.
	Namespace string
	// Name is the finalizer, or Owned.
	Name string
}

// Owned is the name of finalizers whose names are computed: the field managers of the policies own them.
const Owned = "*"

// Counts have the number of objects with each finalizer.
type Counts map[Finalizer]int64

// Add adds the finalizers of a policy.
func (c Counts) Add(p *plan.Policy) {
	for _, h := range p.FinalizerUses {
		f := Finalizer{kschema.FromAPIVersionAndKind(h.APIVersion, h.Kind).GroupKind(), h.Scope.Namespace.Value, cmp.Or(h.Finalizer.Value, Owned)}
		c[f] += 0
	}
}

// CountsOf returns the finalizers of a policy.
func CountsOf(p *plan.Policy) Counts {
	c := Counts{}
	c.Add(p)
	return c
}

// CountsIn returns the finalizers in the status of a set.
func CountsIn(list []edictv1.Finalizer) Counts {
	c := Counts{}
	for i := range list {
		f := &list[i]
		one := Finalizer{kschema.GroupKind{Kind: f.Kind}, f.Namespace, f.Name}
		if f.APIGroup != nil {
			one.Group = *f.APIGroup
		}
		c[one] = 0
		if f.Count != nil {
			c[one] = *f.Count
		}
	}
	return c
}

// Status returns the finalizers for the status of a set.
func (c Counts) Status() (out []edictv1.Finalizer) {
	for _, f := range c.sorted() {
		out = append(out, edictv1.Finalizer{APIGroup: new(f.Group), Kind: f.Kind, Namespace: f.Namespace, Name: f.Name, Count: new(c[f])})
	}
	return out
}

func (c Counts) sorted() []Finalizer {
	return slices.SortedFunc(maps.Keys(c), func(a, b Finalizer) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// target has the finalizers of policies on the objects of one kind.
type target struct {
	// policy is the ID of the policy, or SET/ for all policies of a set.
	policy string
	Finalizer
	names []string
}

// targets returns the finalizers by kinds and namespaces.
func targets(policy string, c Counts) (out []*target) {
	for _, f := range c.sorted() {
		if n := len(out); n == 0 || out[n-1].GroupKind != f.GroupKind || out[n-1].Namespace != f.Namespace {
			out = append(out, &target{policy: policy, Finalizer: f})
		}
		last := out[len(out)-1]
		last.names = append(last.names, f.Name)
	}
	return out
}

// owner reports whether a field manager is one of the target's policies.
func (t *target) owner(manager string) bool {
	policy, ok := strings.CutPrefix(manager, "edict/")
	return ok && (policy == t.policy || strings.HasSuffix(t.policy, "/") && strings.HasPrefix(policy, t.policy))
}

// listed returns the finalizers of the target that some names are.
func (t *target) listed(names []string) Counts {
	out := Counts{}
	for _, f := range names {
		one := t.Finalizer
		if one.Name = f; !slices.Contains(t.names, f) {
			one.Name = Owned
		}
		out[one] = 1
	}
	return out
}
