package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// optional finds out which keys the inputs name, for a policy that also decides
// about keys without a primary. What compares key.name in another way would
// leave keys out without a word, and is rejected.
func optional(list []input, primary *plan.Primary, at v1alpha1.Text, k *kinds, problems *findings) {
	if !primary.Optional || problems.HasErrors() {
		return
	}
	n := naming{primary: primary, kinds: k, problems: problems}
	for _, in := range list {
		if in.plan.Off || primary.PruneOnly && !in.doc.Owned {
			continue
		}
		if in.plan.Get != nil {
			n.byGet(in)
		} else if in.plan.Where != nil {
			n.byWhere(in)
		}
	}
	named := func(in input) bool { return in.plan.Naming != nil || in.plan.Off }
	if !n.problems.HasErrors() && !slices.ContainsFunc(list, named) {
		n.problems.Reportf(document.OptionalWithoutInput, at.Pos(), "name it in an input: where: item.metadata.name == key.name, or get: key.name",
			"optional: true has no effect: no input names keys")
	}
}

// naming finds out which keys inputs name.
type naming struct {
	primary  *plan.Primary
	kinds    *kinds
	problems *findings
}

// at is where the input names objects.
func (in input) at() document.Position { return firstSet(in.doc.Get, in.doc.Where).Pos() }

// byGet is an input of one object: it names a key by its own name.
func (n *naming) byGet(in input) {
	name, namespace, uses := analyze.GetNaming(in.plan.Get)
	switch {
	case !uses:
		return
	case !name:
		n.problems.Hintf(in.at(), `get: key.name, or get: '{"namespace": key.namespace, "name": key.name}'`,
			"with optional: true this get must be key.name as it is: which key an object names is not known otherwise")
		return
	}
	if !n.namespaced(namespace) {
		in.plan.Naming = &plan.KeyNaming{Cluster: true}
		return
	}
	if namespaced, known := n.kinds.namespaced(in.plan.Source.GVK); known && !namespaced {
		n.noNamespace(in)
		return
	}
	in.plan.Naming = &plan.KeyNaming{Own: true}
}

// byWhere is an input with a join.
func (n *naming) byWhere(in input) {
	if !in.plan.Join.UsesName {
		return
	}
	names := in.plan.Join.Named
	if names == nil {
		n.problems.Hintf(in.at(), "item.x == key.name, key.name in item.list, or item.list.exists(e, e.x == key.name), joined by && with other conditions",
			"with optional: true this where must compare key.name as it is with something of the item: which key an object names is not known otherwise")
		return
	}
	in.plan.Naming = &plan.KeyNaming{Join: names, Cluster: !n.namespaced(names.HasNamespace())}
	if in.plan.Naming.Cluster || names.HasNamespace() {
		return
	}
	if in.plan.Naming.Own = in.plan.Own; in.plan.Own {
		return
	}
	if only := n.primary.Namespaces; len(only) == 1 {
		in.plan.Naming.Within = only[0]
		return
	}
	n.noNamespace(in)
}

func (n *naming) noNamespace(in input) {
	n.problems.Hintf(in.at(), "leave out within: cluster, or add: && item.metadata.namespace == key.namespace",
		"the input %q names a %s without its namespace, so with optional: true it is not known which one is meant", in.plan.Written(), n.primary.Kind)
}

// namespaced reports whether the primary's kind has namespaces; of a kind that
// nothing is known of, whether an input names them.
func (n *naming) namespaced(given bool) bool {
	namespaced, known := n.kinds.namespaced(n.primary.GVK)
	if !known {
		return given || len(n.primary.Namespaces) > 0
	}
	return namespaced
}
