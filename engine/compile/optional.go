package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
)

// optional finds out which keys the inputs name, for a policy that also decides
// about keys without a primary. What compares key.name in another way would
// leave keys out without a word, and is rejected.
func (b *builder) optional(docs map[string]*v1alpha1.Input) {
	if !b.plan.Primary.Optional || b.problems.HasErrors() {
		return
	}
	for _, p := range b.plan.Inputs {
		if p.Off {
			continue
		}
		if p.Get != nil {
			b.getNames(p, docs[p.Name].Get)
		} else if p.Where != nil {
			b.whereNames(p, docs[p.Name].Where)
		}
	}
	named := func(p *plan.Input) bool { return p.Naming != nil || p.Off }
	if !b.problems.HasErrors() && !slices.ContainsFunc(b.plan.Inputs, named) {
		b.problems.Hintf(b.doc.Spec.For.Kind.Pos(), "name it in an input: where: item.metadata.name == key.name, or get: key.name",
			"optional: true has no effect: no input names keys")
	}
}

// getNames is an input of one object: it names a key by its own name.
func (b *builder) getNames(p *plan.Input, at v1alpha1.Text) {
	name, namespace, uses := analyze.GetNaming(p.Get)
	switch {
	case !uses:
		return
	case !name:
		b.problems.Hintf(at.Pos(), `get: key.name, or get: '{"namespace": key.namespace, "name": key.name}'`,
			"with optional: true this get must be key.name as it is: which key an object names is not known otherwise")
		return
	}
	if !b.namespaced(namespace) {
		p.Naming = &plan.KeyNaming{Cluster: true}
		return
	}
	if r, known := b.options.Schemas.Resource(p.Source.GVK); known && !r.Namespaced {
		b.noNamespace(p, at)
		return
	}
	p.Naming = &plan.KeyNaming{Own: true}
}

// whereNames is an input with a join.
func (b *builder) whereNames(p *plan.Input, at v1alpha1.Text) {
	if !p.Join.UsesName {
		return
	}
	names := p.Join.Named
	if names == nil {
		b.problems.Hintf(at.Pos(), "item.x == key.name, key.name in item.list, or item.list.exists(e, e.x == key.name), joined by && with other conditions",
			"with optional: true this where must compare key.name as it is with something of the item: which key an object names is not known otherwise")
		return
	}
	p.Naming = &plan.KeyNaming{Join: names, Cluster: !b.namespaced(names.HasNamespace())}
	if p.Naming.Cluster || names.HasNamespace() {
		return
	}
	if only := b.plan.Primary.Namespaces; len(only) == 1 {
		p.Naming.Within = only[0]
		return
	}
	b.noNamespace(p, at)
}

func (b *builder) noNamespace(p *plan.Input, at v1alpha1.Text) {
	b.problems.Hintf(at.Pos(), "add: && item.metadata.namespace == key.namespace",
		"the input %q names a %s without its namespace, so with optional: true it is not known which one is meant", p.Name, b.plan.Primary.Kind)
}

// namespaced reports whether the primary's kind has namespaces; of a kind that
// nothing is known of, whether an input names them.
func (b *builder) namespaced(given bool) bool {
	r, known := b.options.Schemas.Resource(b.plan.Primary.GVK)
	if !known {
		return given || len(b.plan.Primary.Namespaces) > 0
	}
	return r.Namespaced
}
