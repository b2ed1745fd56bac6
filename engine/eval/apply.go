package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// apply keeps what the policy says of an object, unless an item before does so already.
func (r *ruleRun) apply(a *plan.Child, t targetState, manifest *value.Map, missing bool) error {
	digest := r.digest(a, manifest)
	again, err := r.alone(a, t.id, digest)
	switch {
	case again || err != nil:
		return err
	case missing:
		r.create(t.id, value.Overwrite(manifest, digest, "metadata", "annotations", r.annotation()), true, !a.Take)
		return nil
	}
	if err := r.refused(a, t, manifest); err != nil {
		return &expr.Failure{At: a.Pos, Err: err}
	}
	r.keep(a, t, manifest, digest)
	return nil
}

// refused says why nothing is applied to an object that is there.
func (r *ruleRun) refused(a *plan.Child, t targetState, manifest *value.Map) error {
	if !a.Take && r.foreign(t) {
		return fmt.Errorf("%s exists and is not this policy's (%s); nothing is applied. Choose another name, or write ifExists: take to take it over",
			shown(t.id), described(t.object))
	}
	if other := r.keeper(a, t, manifest); other != nil {
		apart := "key.name"
		if other.Name == r.ev.in.Key.Name {
			apart = "key.namespace"
		}
		return fmt.Errorf("%s is kept for another primary object, %s, which exists; nothing is applied. Put %s, or whatever else tells the primary objects apart, into metadata.name",
			shown(t.id), shown(other.ID()), apart)
	}
	return nil
}

// shown returns the kind and the name of an object.
func shown(id world.ID) string {
	return id.Kind + " " + Key{Namespace: id.Namespace, Name: id.Name}.String()
}

// keep keeps what the policy says of an object that is there.
func (r *ruleRun) keep(a *plan.Child, t targetState, manifest *value.Map, digest value.Value) {
	manifest = left(a.Once, manifest, t.value)
	manifest = value.Overwrite(manifest, digest, "metadata", "annotations", r.annotation())
	if r.applied(a, t, manifest, digest) {
		return
	}
	r.emit(&Effect{Verb: VerbApply, Target: t.id, Patch: manifest, Before: t.value})
	next, _ := mergeDiff(t.value, manifest, a.Type)
	r.ev.overlay.set(t.id, next.(*value.Map))
	r.ev.reader.changed()
}

func (r *ruleRun) annotation() string { return plan.AppliedPrefix + r.ev.in.Policy.Name }

// manager is the field manager of the policy.
func (r *ruleRun) manager() string { return world.ManagerPrefix + r.ev.in.Policy.Name }

// digest is of what a policy says of an object, but for what it says once.
func (r *ruleRun) digest(a *plan.Child, manifest *value.Map) value.Value {
	for _, path := range a.Once {
		manifest = value.Overwrite(manifest, nil, path...)
	}
	text, err := value.JSON(manifest)
	if err != nil {
		return value.OfString("") // plain values can always be written
	}
	sum := sha256.Sum256(text)
	return value.OfString(hex.EncodeToString(sum[:8]))
}

// left returns a manifest that leaves fields of an object as they are: it says of
// them what the object has, so that they neither change nor fall to nobody.
func left(once [][]string, manifest, live *value.Map) *value.Map {
	for _, path := range once {
		manifest = value.Overwrite(manifest, value.Path(live, path...), path...)
	}
	return manifest
}

// foreign reports whether an object is neither the policy's by its managers nor
// owned by the primary.
func (r *ruleRun) foreign(t targetState) bool {
	if t.object == nil || r.ev.overlay.created[t.id] != nil {
		return false
	}
	if r.wrote(t) {
		return false
	}
	for _, owner := range items(value.Path(t.value, "metadata", "ownerReferences")) {
		if uid := value.StringAt(owner, "uid"); r.ev.object != nil && uid != "" && uid == r.ev.object.UID {
			return false
		}
	}
	return true
}

// wrote reports whether the policy has written an object, by its managers or, where nobody
// is noted, by the digest.
func (r *ruleRun) wrote(t targetState) bool {
	m := t.object.Managers()
	return m.Has(r.manager()) || m == nil && value.Path(t.value, "metadata", "annotations", r.annotation()) != nil
}

// described names the managers of an object's fields.
func described(o *world.Object) string {
	m := o.Managers()
	if m == nil {
		return "nobody is noted as its manager"
	}
	return "its managers are " + strings.Join(m.Names, ", ")
}

// applied reports whether an object has all that was to be applied, and nothing
// that was applied before and is not any more. The API server notes for every
// manager which fields it has applied and nobody has changed since; together
// with a digest of what was applied that tells, whatever the server made of the
// values. Without the digest the values are compared.
func (r *ruleRun) applied(a *plan.Child, t targetState, manifest *value.Map, digest value.Value) bool {
	m := t.object.Managers()
	if m == nil || r.ev.overlay.created[t.id] != nil {
		_, patch := mergeDiff(t.value, manifest, a.Type)
		return patch == nil // a server that keeps no managers
	}
	held := m.Applied(r.manager())
	if held == nil {
		return false
	}
	kept := value.Same(value.Path(t.value, "metadata", "annotations", r.annotation()), digest) && t.value == t.object.Value
	c := comparison{once: a.Once, values: !kept, digest: r.annotation()}
	return c.object(held, manifest, t.value, a.Type, nil)
}

// skipped reports whether a path is one that is left alone.
func (c *comparison) skipped(path []string) bool {
	return slices.ContainsFunc(c.once, func(once []string) bool { return slices.Equal(once, path) })
}
