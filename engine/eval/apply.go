package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// applying is one object that is applied by an action.
type applying struct {
	run *ruleRun
	a   *plan.Child
	// t is the object as it is now, manifest what the policy says of it.
	t        targetState
	manifest *value.Map
}

// apply keeps what the policy says of an object, unless an item before does so already.
func (p applying) apply(missing bool) error {
	digest := p.digest()
	again, err := p.alone(p.t.id, digest)
	switch {
	case again || err != nil:
		return err
	case missing:
		if err := p.typed(); err != nil {
			return err
		}
		writing{p.run}.create(p.t.id, value.Overwrite(p.manifest, digest, "metadata", "annotations", p.annotation()), true, !p.a.Take)
		return nil
	}
	if err := p.refused(); err != nil {
		return &expr.Failure{At: p.a.Pos, Err: err}
	}
	return p.keep(digest)
}

// typed returns an error if an API server cannot merge the manifest by the schema of its kind.
func (p applying) typed() error {
	if err := (schema.Checker{Keys: true}).Check(p.a.Type, value.Plain(p.manifest)); err != nil {
		return &expr.Failure{At: p.a.Pos, Err: fmt.Errorf("%s %w", shown(p.t.id), err)}
	}
	return nil
}

// refused says why nothing is applied to an object that is there.
func (p applying) refused() error {
	if !p.a.Take && p.foreign() {
		return fmt.Errorf("%s exists and is not this policy's (%s); nothing is applied. Choose another name, or write ifExists: take to take it over",
			shown(p.t.id), described(p.t.object))
	}
	if other := p.keeper(); other != nil {
		apart := "key.name"
		if other.Name == p.run.ev.in.Key.Name {
			apart = "key.namespace"
		}
		return fmt.Errorf("%s is kept for another primary object, %s, which exists; nothing is applied. Put %s, or whatever else tells the primary objects apart, into metadata.name",
			shown(p.t.id), shown(other.ID()), apart)
	}
	return nil
}

// shown returns the kind and the name of an object.
func shown(id world.ID) string {
	return id.Kind() + " " + Key{Namespace: id.Namespace(), Name: id.Name()}.String()
}

// keep keeps what the policy says of an object that is there.
func (p applying) keep(digest value.Value) error {
	p.manifest = left(p.a.Once, p.manifest, p.t.value)
	p.manifest = value.Overwrite(p.manifest, digest, "metadata", "annotations", p.annotation())
	if p.applied(digest) {
		return nil
	}
	if err := p.typed(); err != nil {
		return err
	}
	if held := p.t.object.Managers().Applied(p.manager()); held != nil {
		if patch := emptied(held, p.manifest, p.t.value, p.a.Type); patch != nil {
			writing{p.run}.emit(&Effect{Verb: VerbPatch, Target: p.t.id, Type: p.a.Type, Patch: patch, Before: p.t.value})
		}
	}
	writing{p.run}.emit(&Effect{Verb: VerbApply, Target: p.t.id, Type: p.a.Type, Patch: p.manifest, Before: p.t.value, Takes: p.a.Take})
	next, _ := mergeDiff(p.t.value, p.manifest, p.a.Type)
	writing{p.run}.show(p.t, next.(*value.Map), p.removes)
	return nil
}

// emptied returns a merge patch that takes the keys which a manager holds out of the maps that
// are to be empty; nil if there are none. An apply alone would remove such a map as a whole.
func emptied(held *fieldpath.Set, want *value.Map, live value.Value, t *schema.Type) (patch *value.Map) {
	for i := range want.Len() {
		name, v := want.At(i)
		fields, isMap := v.(*value.Map)
		is, there := value.Path(live, name).(*value.Map)
		inner, deeper := held.Children.Get(fieldpath.FieldNameElement(name))
		if !isMap || !there || !deeper || leftOut(v, t, name) {
			continue
		}
		var taken *value.Map
		if fields.Len() > 0 {
			taken = emptied(inner, fields, is, t.Field(name))
		} else {
			for j := range is.Len() {
				key, _ := is.At(j)
				if pe := fieldpath.FieldNameElement(key); inner.Members.Has(pe) || inner.WithPrefix(pe).Size() > 0 {
					taken = value.Overwrite(orEmpty(taken), value.Null, key)
				}
			}
		}
		if taken != nil {
			patch = value.Overwrite(orEmpty(patch), taken, name)
		}
	}
	return patch
}

// orEmpty returns a map, or an empty one if it is nil.
func orEmpty(m *value.Map) *value.Map {
	if m == nil {
		return value.Empty
	}
	return m
}

// removes reports whether the API server will remove fields because they are no longer
// applied, other than in the metadata. They stay in what is shown to later rules.
func (p applying) removes() bool {
	m := p.t.object.Managers()
	if m == nil {
		return false
	}
	held := m.Applied(p.manager())
	if held == nil {
		return false
	}
	c := comparison{once: append([][]string{{"metadata"}}, p.a.Once...), values: true}
	return !c.object(held, p.manifest, p.t.value, p.a.Type, nil)
}

func (p applying) annotation() string { return plan.AppliedKey(p.run.ev.in.Policy.Owner()) }

// manager is the field manager of the policy.
func (p applying) manager() string { return world.ManagerPrefix + p.run.ev.in.Policy.Owner() }

// digest is of what a policy says of an object, but for what it says once.
func (p applying) digest() value.Value {
	for _, path := range p.a.Once {
		p.manifest = value.Overwrite(p.manifest, nil, path...)
	}
	text, err := value.JSON(p.manifest)
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
func (p applying) foreign() bool {
	if p.t.object == nil || p.run.ev.overlay.created[p.t.id] != nil || p.wrote() {
		return false
	}
	primary := p.run.ev.object
	return primary == nil || primary.UID == "" || !owns(p.t.value, primary.UID)
}

// owns reports whether an owner of an object has a UID.
func owns(manifest value.Value, uid string) bool {
	return slices.ContainsFunc(items(value.Path(manifest, "metadata", "ownerReferences")), func(owner value.Value) bool { return value.StringAt(owner, "uid") == uid })
}

// wrote reports whether the policy has written an object, by its managers or, where nobody
// is noted, by the digest.
func (p applying) wrote() bool {
	m := p.t.object.Managers()
	return m.Has(p.manager()) || m == nil && value.Path(p.t.value, "metadata", "annotations", p.annotation()) != nil
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
func (p applying) applied(digest value.Value) bool {
	m := p.t.object.Managers()
	if m == nil || p.run.ev.overlay.created[p.t.id] != nil {
		_, patch := mergeDiff(p.t.value, p.manifest, p.a.Type)
		return patch == nil // a server that keeps no managers
	}
	held := m.Applied(p.manager())
	if held == nil {
		return false
	}
	kept := value.Same(value.Path(p.t.value, "metadata", "annotations", p.annotation()), digest) && p.t.value == p.t.object.Value
	c := comparison{once: p.a.Once, values: !kept, digest: p.annotation()}
	return c.object(held, p.manifest, p.t.value, p.a.Type, nil)
}

// skipped reports whether a path is one that is left alone.
func (c *comparison) skipped(path []string) bool {
	return slices.ContainsFunc(c.once, func(once []string) bool { return slices.Equal(once, path) })
}
