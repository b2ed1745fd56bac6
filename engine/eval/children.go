package eval

import (
	"errors"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// child makes an object, or keeps what the policy says of it.
func (r *ruleRun) child(a *plan.Child, f *frame) error {
	v, err := a.Manifest.Build(f, r.ev.meter)
	if err != nil {
		return err
	}
	manifest, ok := v.(*value.Map)
	id := world.ID{GVK: a.GVK, Namespace: value.StringAt(v, "metadata", "namespace"), Name: value.StringAt(v, "metadata", "name")}
	if !ok || id.Name == "" {
		return &expr.Failure{At: a.Pos, Err: errors.New("the object has no metadata.name")}
	}
	if err := bodyFits(a, manifest); err != nil {
		return err
	}
	r.ev.reader.named(a.Target, TargetKey(id.Namespace, id.Name))
	t, err := r.find(id)
	missing := errors.Is(err, errNoTarget)
	switch {
	case err != nil && !missing:
		return err
	case a.Apply:
		t.id = id
		return r.apply(a, t, manifest, missing)
	case missing: // one that is there is left alone
		r.create(id, manifest, false, false)
	}
	return nil
}

// create makes an object that does not exist. With refuse, one that turns out
// to exist and to be somebody else's is not taken over.
func (r *ruleRun) create(id world.ID, manifest *value.Map, apply, refuse bool) {
	verb := VerbCreate
	if apply {
		verb = VerbApply
	}
	r.emit(&Effect{Verb: verb, Target: id, Patch: manifest, Before: value.Empty, Missing: true, Refuse: refuse})
	r.ev.overlay.create(id, manifest)
	r.ev.reader.changed()
}

// emit adds an effect of the current item.
func (r *ruleRun) emit(e *Effect) {
	if r.ev.in.Instead != nil && r.outdated(e) {
		return
	}
	e.Rules, e.Item, e.Rule, e.Finally = []string{r.rule.Name}, r.ev.item, r.index, r.rule.Finally
	r.ev.decision.Effects = append(r.ev.decision.Effects, e)
	r.ev.emitted++
}

// outdated reports whether an effect is for the primary object, which is no longer as the
// one that stands in for it was: it is gone, has changed or is another one of its name. What
// was wanted for the former is not written to it.
func (r *ruleRun) outdated(e *Effect) bool {
	if e.Verb == VerbEvent || e.Target != r.ev.in.Instead.ID() {
		return false
	}
	now := r.ev.in.World.Table(r.ev.in.Policy.Primary.Source).Get(r.ev.in.Key.Namespace, r.ev.in.Key.Name)
	return now == nil || now.UID != r.ev.in.Instead.UID || now.Version() != r.ev.in.Instead.Version() || !r.ev.in.Policy.Primary.Selects(now)
}

// deletion deletes an object. The effect shows what is not the default. The rules below see it as one that is going.
func (r *ruleRun) deletion(a *plan.Delete, f *frame) error {
	t, err := r.target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil || value.Path(t.value, "metadata", "deletionTimestamp") != nil {
		return err
	}
	e := &Effect{Verb: VerbDelete, Target: t.id, Patch: value.Empty, Before: t.value, Propagation: a.Propagation, Unlocked: a.Changed}
	if e.GracePeriod, err = r.gracePeriod(a.GracePeriod, f); err != nil {
		return err
	}
	if a.Propagation != plan.Background {
		e.Patch = e.Patch.With("propagation", value.OfString(a.Propagation))
	}
	if e.GracePeriod != nil {
		e.Patch = e.Patch.With("gracePeriodSeconds", value.OfInt(*e.GracePeriod))
	}
	r.emit(e)
	r.going(t)
	return nil
}

// going shows an object to the rules below as one that is being deleted.
func (r *ruleRun) going(t targetState) {
	r.ev.overlay.set(t.id, value.Overwrite(t.value, value.OfTime(r.ev.in.Now), "metadata", "deletionTimestamp"))
	r.ev.reader.changed()
}

// gracePeriod returns the grace period of a deletion in seconds; nil is that of
// the kind.
func (r *ruleRun) gracePeriod(t *cel.Template, f *frame) (*int64, error) {
	if t == nil {
		return nil, nil
	}
	text, err := r.ev.text(t, f)
	if err != nil || text == "" {
		return nil, err
	}
	seconds, err := plan.GraceSeconds(text)
	if err != nil {
		return nil, &expr.Failure{At: t.Pos(), Err: err}
	}
	return &seconds, nil
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
	name, err := r.ev.text(a.Name, f)
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
	name, err := r.ev.text(ref.Name, f)
	if err != nil {
		return err
	}
	namespace := ""
	if ref.Namespace != nil {
		if namespace, err = r.ev.text(ref.Namespace, f); err != nil {
			return err
		}
	}
	manifest := value.Overwrite(fields, value.OfString(ref.APIVersion), "apiVersion")
	manifest = value.Overwrite(manifest, value.OfString(ref.Kind), "kind")
	manifest = value.Overwrite(manifest, value.OfString(name), "metadata", "name")
	if namespace != "" {
		manifest = value.Overwrite(manifest, value.OfString(namespace), "metadata", "namespace")
	}
	r.create(world.ID{GVK: ref.GVK, Namespace: namespace, Name: name}, manifest, false, false)
	return nil
}
