package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// child makes an object, or keeps what the policy says of it.
func (r *ruleRun) child(a *plan.Child, f *frame) error {
	v, err := a.Manifest.Build(f, r.meter)
	if err != nil {
		return err
	}
	manifest, ok := v.(*value.Map)
	id := world.ID{GVK: a.GVK, Namespace: value.StringAt(v, "metadata", "namespace"), Name: value.StringAt(v, "metadata", "name")}
	if !ok || id.Name == "" {
		return &expr.Failure{At: a.Pos, Err: errors.New("the object has no metadata.name")}
	}
	r.named(a.Target, TargetKey(id.Namespace, id.Name))
	t, err := r.find(id)
	switch {
	case errors.Is(err, errNoTarget):
		r.create(id, r.applied(a, manifest), a.Apply)
		return nil
	case err != nil || !a.Apply:
		return err // one that is there is left alone
	}
	r.apply(t, r.applied(a, manifest))
	return nil
}

// applied adds the digest by which the next evaluation knows that all of this
// was applied, and nothing else that has to go.
func (r *ruleRun) applied(a *plan.Child, manifest *value.Map) *value.Map {
	if !a.Apply {
		return manifest
	}
	text, err := json.Marshal(value.Plain(manifest))
	if err != nil {
		return manifest // plain values can always be written
	}
	sum := sha256.Sum256(text)
	digest := value.OfString(hex.EncodeToString(sum[:8]))
	return value.Overwrite(manifest, digest, "metadata", "annotations", plan.AppliedPrefix+r.Policy.Name)
}

// create makes an object that does not exist.
func (r *ruleRun) create(id world.ID, manifest *value.Map, apply bool) {
	verb := VerbCreate
	if apply {
		verb = VerbApply
	}
	r.emit(&Effect{Verb: verb, Target: id, Patch: manifest, Before: value.Empty})
	r.overlay.create(id, manifest)
	r.changed()
}

// apply keeps what the policy says of an object that is there.
func (r *ruleRun) apply(t targetState, manifest *value.Map) {
	next, patch := mergeDiff(t.value, manifest)
	if patch == nil {
		return
	}
	r.emit(&Effect{Verb: VerbApply, Target: t.id, Patch: manifest, Before: t.value})
	r.overlay.set(t.id, next.(*value.Map))
	r.changed()
}

// emit adds an effect of the current item.
func (r *ruleRun) emit(e *Effect) {
	e.Rules, e.Item, e.Rule, e.Finally = []string{r.rule.Name}, r.item, r.index, r.rule.Finally
	r.decision.Effects = append(r.decision.Effects, e)
}

// deletion deletes an object. The rules below see it as one that is going.
func (r *ruleRun) deletion(a *plan.Delete, f *frame) error {
	t, err := r.target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil || value.Path(t.value, "metadata", "deletionTimestamp") != nil {
		return err
	}
	r.emit(&Effect{Verb: VerbDelete, Target: t.id, Patch: value.Empty, Before: t.value})
	r.overlay.set(t.id, value.Overwrite(t.value, value.OfTime(r.Now), "metadata", "deletionTimestamp"))
	r.changed()
	return nil
}

// finalizer keeps a finalizer on an object or off it. An object that is going
// takes no new one.
func (r *ruleRun) finalizer(a *plan.Finalizer, f *frame) error {
	t, err := r.target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	name, err := r.text(a.Name, f)
	if err != nil {
		return err
	}
	names := value.Strings(value.Path(t.value, "metadata", "finalizers"))
	at := slices.Index(names, name)
	switch going := value.Path(t.value, "metadata", "deletionTimestamp") != nil; {
	case a.Absent && at >= 0:
		names = slices.Delete(names, at, at+1)
	case !a.Absent && at < 0 && !going:
		names = append(names, name)
	default:
		return nil
	}
	r.write(t, "", nest([]string{"metadata", "finalizers"}, value.OfStrings(names)))
	return nil
}

// makeTarget makes the missing object of a patch.
func (r *ruleRun) makeTarget(ref *plan.ObjectRef, f *frame, fields *value.Map) error {
	name, err := r.text(ref.Name, f)
	if err != nil {
		return err
	}
	namespace := ""
	if ref.Namespace != nil {
		if namespace, err = r.text(ref.Namespace, f); err != nil {
			return err
		}
	}
	manifest := value.Overwrite(fields, value.OfString(ref.APIVersion), "apiVersion")
	manifest = value.Overwrite(manifest, value.OfString(ref.Kind), "kind")
	manifest = value.Overwrite(manifest, value.OfString(name), "metadata", "name")
	if namespace != "" {
		manifest = value.Overwrite(manifest, value.OfString(namespace), "metadata", "namespace")
	}
	r.create(world.ID{GVK: ref.GVK, Namespace: namespace, Name: name}, manifest, false)
	return nil
}
