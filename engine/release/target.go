package release

import (
	"cmp"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
)

// Target is what policies leave on the objects of one kind.
type Target struct {
	// Policy is the ID of the policy, or SET/ for all policies of a set.
	Policy string
	kschema.GroupKind
	// Namespace is the only one that is looked at; empty means all.
	Namespace string
	// Names are the finalizers. [Owned] stands for those that the field managers of the policies own.
	Names []string
}

// SetFinalizer is the finalizer of a PolicySet while objects may have finalizers of its policies.
const SetFinalizer = "edict.dev/release"

// Owned is the name of finalizers that only an evaluation tells.
const Owned = "*"

// TargetsOf returns what a policy leaves, by kinds and namespaces.
func TargetsOf(p *plan.Policy) (out []*Target) {
	for _, h := range p.FinalizerUses {
		gvk := kschema.FromAPIVersionAndKind(h.APIVersion, h.Kind)
		out = add(out, &Target{Policy: p.ID(), GroupKind: gvk.GroupKind(), Namespace: h.Scope.Namespace.Value}, cmp.Or(h.Finalizer.Value, Owned))
	}
	return out
}

// TargetsOfSet returns what the policies of a set leave, as its status lists it.
func TargetsOfSet(s *edictv1.PolicySet) (out []*Target) {
	for i := range s.Status.Finalizers {
		f := &s.Status.Finalizers[i]
		out = add(out, &Target{Policy: s.Name + "/", Namespace: f.Namespace, GroupKind: kschema.GroupKind{Group: Group(f), Kind: f.Kind}}, f.Name)
	}
	return out
}

// Group returns the API group of a finalizer.
func Group(f *edictv1.Finalizer) string {
	if f.APIGroup == nil {
		return ""
	}
	return *f.APIGroup
}

// add adds a finalizer to the target of its kind and namespace.
func add(to []*Target, t *Target, name string) []*Target {
	i := slices.IndexFunc(to, func(o *Target) bool { return o.GroupKind == t.GroupKind && o.Namespace == t.Namespace })
	if i < 0 {
		to, i = append(to, t), len(to)
	}
	if !slices.Contains(to[i].Names, name) {
		to[i].Names = append(to[i].Names, name)
	}
	slices.SortFunc(to, func(a, b *Target) int {
		return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Namespace, b.Namespace))
	})
	return to
}

// owner reports whether a field manager is one of the target's policies.
func (t *Target) owner(manager string) bool {
	policy, ok := strings.CutPrefix(manager, "edict/")
	return ok && (policy == t.Policy || strings.HasSuffix(t.Policy, "/") && strings.HasPrefix(policy, t.Policy))
}
