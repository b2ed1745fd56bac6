package eval

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// keeper returns another primary object that an object is kept for: the policy has marked
// it as a child of that, or has made that its owner. nil is none that exists.
func (r *ruleRun) keeper(a *plan.Child, t targetState, manifest *value.Map) *world.Object {
	switch {
	case a.Others < 0:
		return nil
	case a.Kept:
		return r.other(a, r.marked(t.value))
	}
	for _, owner := range items(value.Path(t.value, "metadata", "ownerReferences")) {
		uid := value.StringAt(owner, "uid")
		if o := r.other(a, r.owning(owner, t.id)); o != nil && o.UID == uid && !owns(manifest, uid) && r.gave(t, uid) {
			return o
		}
	}
	return nil
}

// other returns the primary object of a key, if that is another one and exists. The key is
// decided about again when that changes.
func (r *ruleRun) other(a *plan.Child, key Key) *world.Object {
	if key.Name == "" || key == r.ev.in.Key {
		return nil
	}
	o := r.ev.in.World.Table(r.ev.in.Policy.Primary.Source).Get(key.Namespace, key.Name)
	if o == nil || !r.ev.in.Policy.Primary.Selects(o) {
		return nil
	}
	r.ev.reader.named(a.Others, TargetKey(key.Namespace, key.Name))
	return o
}

// marked returns the key that an object is a child of; its name is "" where it has not all
// marks of the policy.
func (r *ruleRun) marked(object *value.Map) Key {
	label := func(name string) string { return value.StringAt(object, "metadata", "labels", name) }
	if label(children.PolicyLabel) != r.ev.in.Policy.Name || label(children.ChildLabel) == "" {
		return Key{}
	}
	annotation := func(name string) string { return value.StringAt(object, "metadata", "annotations", name) }
	return Key{Namespace: annotation(children.PrimaryNamespace), Name: annotation(children.PrimaryName)}
}

// owning returns the key of an owner of an object; its name is "" where the owner is of
// another kind.
func (r *ruleRun) owning(owner value.Value, of world.ID) Key {
	primary := r.ev.in.Policy.Primary.GVK
	if value.StringAt(owner, "kind") != primary.Kind || value.StringAt(owner, "apiVersion") != primary.APIVersion {
		return Key{}
	}
	key := Key{Name: value.StringAt(owner, "name")}
	if r.ev.in.Key.Namespace != "" {
		key.Namespace = of.Namespace
	}
	return key
}

func owns(manifest *value.Map, uid string) bool {
	for _, owner := range items(value.Path(manifest, "metadata", "ownerReferences")) {
		if value.StringAt(owner, "uid") == uid {
			return true
		}
	}
	return false
}

// gave reports whether the policy has applied an owner to an object.
func (r *ruleRun) gave(t targetState, uid string) bool {
	m := t.object.Managers()
	if m == nil {
		return r.wrote(t)
	}
	held := m.Applied(r.manager())
	if held == nil {
		return false
	}
	owner := fieldpath.MakePathOrDie("metadata", "ownerReferences", fieldpath.KeyByFields("uid", uid))
	return held.Has(owner[:2]) || held.Has(owner) || !held.WithPrefix(owner[0]).WithPrefix(owner[1]).WithPrefix(owner[2]).Empty()
}
