package release

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// target is what one policy leaves on the objects of one kind.
type target struct {
	policy string
	schema.GVK
	// namespace is the only one that is looked at; "" is all.
	namespace string
	// names are the finalizers. Owned says that others of the policy's own,
	// which no text names, belong to it as well.
	names []string
	owned bool
}

// targets returns what a policy leaves behind, by kinds and namespaces.
func targets(p *plan.Policy) (out []*target) {
	for _, h := range p.FinalizerUses {
		t := &target{policy: p.ID(), GVK: h.GVK, namespace: h.Scope.Namespace.Value}
		i := slices.IndexFunc(out, func(o *target) bool { return o.GVK == t.GVK && o.namespace == t.namespace })
		if i < 0 {
			out, i = append(out, t), len(out)
		}
		if h.Finalizer.Value == "" {
			out[i].owned = true
		} else if !slices.Contains(out[i].names, h.Finalizer.Value) {
			out[i].names = append(out[i].names, h.Finalizer.Value)
		}
	}
	slices.SortFunc(out, func(a, b *target) int {
		return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.namespace, b.namespace))
	})
	return out
}
