package eval

import (
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/identity"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// keeper returns another primary object that an object is kept for: the policy has marked
// it as a child of that, or has made that its owner. nil is none that exists.
func (p applying) keeper() *world.Object {
	switch {
	case p.a.Others < 0:
		return nil
	case p.a.Kept:
		return p.other(p.marked(p.t.value))
	}
	for _, owner := range items(value.Path(p.t.value, "metadata", "ownerReferences")) {
		uid := value.StringAt(owner, "uid")
		if o := p.other(p.owning(owner, p.t.id)); o != nil && o.UID == uid && !owns(p.manifest, uid) && p.gave(uid) {
			return o
		}
	}
	return nil
}

// other returns the primary object of a key, if that is another one and exists. The key is
// decided about again when that changes.
func (p applying) other(key Key) *world.Object {
	if key.Name == "" || key == p.run.ev.in.Key {
		return nil
	}
	o := p.run.ev.in.World.Table(p.run.ev.in.Policy.Primary.Source).Get(key.Namespace, key.Name)
	if o == nil || !p.run.ev.in.Policy.Primary.Selects(o) {
		return nil
	}
	p.run.ev.reader.named(p.a.Others, TargetKey(key.Namespace, key.Name))
	return o
}

// marked returns the key that an object is a child of; its name is "" where it has not all
// marks of the policy.
func (p applying) marked(object *value.Map) Key {
	label := func(name string) string { return value.StringAt(object, "metadata", "labels", name) }
	if identity.PolicyID(label(children.PolicySetLabel), label(children.PolicyLabel)) != p.run.ev.in.Policy.Owner() || label(children.ChildLabel) == "" {
		return Key{}
	}
	annotation := func(name string) string { return value.StringAt(object, "metadata", "annotations", name) }
	return Key{Namespace: annotation(children.PrimaryNamespace), Name: annotation(children.PrimaryName)}
}

// owning returns the key of an owner of an object; its name is "" where the owner is of
// another kind.
func (p applying) owning(owner value.Value, of world.ID) Key {
	primary := p.run.ev.in.Policy.Primary.GVK
	if value.StringAt(owner, "kind") != primary.Kind || value.StringAt(owner, "apiVersion") != primary.APIVersion {
		return Key{}
	}
	key := Key{Name: value.StringAt(owner, "name")}
	if p.run.ev.in.Key.Namespace != "" {
		key.Namespace = of.Namespace()
	}
	return key
}

// gave reports whether the policy has applied an owner to an object.
func (p applying) gave(uid string) bool {
	m := p.t.object.Managers()
	if m == nil {
		return p.wrote()
	}
	held := m.Applied(p.manager())
	if held == nil {
		return false
	}
	owner := fieldpath.MakePathOrDie("metadata", "ownerReferences", fieldpath.KeyByFields("uid", uid))
	return held.Has(owner[:2]) || held.Has(owner) || !held.WithPrefix(owner[0]).WithPrefix(owner[1]).WithPrefix(owner[2]).Empty()
}

// checkExisting adds a problem if the object that exists in place of the one to create is
// another's. It returns an error if that object is being deleted.
func (p applying) checkExisting() error {
	owned := slices.ContainsFunc(items(value.Path(p.t.value, "metadata", "ownerReferences")), func(owner value.Value) bool {
		return owns(p.manifest, value.StringAt(owner, "uid"))
	})
	if owned || !p.foreign() || p.t.object.Managers() == nil && !p.notes() {
		return nil
	}
	if value.Path(p.t.value, "metadata", "deletionTimestamp") != nil {
		return &expr.Failure{At: p.a.Pos, Err: fmt.Errorf("%s is not this policy's and is being deleted; nothing is created until it is gone: see its finalizers", shown(p.t.id))}
	}
	p.run.err = &expr.Failure{At: p.a.Pos, Err: fmt.Errorf("%s exists and is not this policy's; %w", shown(p.t.id), errForeign)}
	p.run.ev.decision.Problems = append(p.run.ev.decision.Problems, Problem{Rule: p.run.rule.Name, Err: p.run.err})
	return nil
}

// notes reports whether the API server notes a manager for the manifest: it has more than a name.
func (p applying) notes() bool {
	for i := range p.manifest.Len() {
		if name, v := p.manifest.At(i); noted(p.a.Type, name, v, []string{name}) {
			return true
		}
	}
	return false
}
