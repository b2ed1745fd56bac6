package eval

import (
	"errors"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// writing finds the objects that actions are about, and changes them.
type writing struct{ run *ruleRun }

// targetState is the object of an action: who it is and what it is now.
type targetState struct {
	id    world.ID
	value *value.Map
	// object is the stored object; nil when it does not exist.
	object *world.Object
}

// absentIfEmpty returns a list to be written at a path, or null if it has no entries: a list
// whose last entry is removed is removed. A stored empty list stays.
func (t targetState) absentIfEmpty(list *value.List, path ...string) value.Value {
	if list.Len() > 0 {
		return list
	}
	if t.object != nil {
		if stored, ok := value.Path(t.object.Value, path...).(*value.List); ok && stored.Len() == 0 {
			return list
		}
	}
	return value.Null
}

// errNoTarget says that the object of an action does not exist. There is
// nothing to write to, which is no failure.
var errNoTarget = errors.New("the object does not exist")

func (w writing) target(ref *plan.ObjectRef, f *frame) (targetState, error) {
	switch {
	case ref.Primary():
		if w.run.ev.object == nil {
			return targetState{}, errNoTarget
		}
		return w.state(w.run.ev.object), nil
	case ref.Expression != nil:
		v, err := ref.Expression.Eval(f, w.run.ev.meter)
		if err != nil {
			return targetState{}, err
		}
		m, ok := value.Unwrap(v).(*value.Map)
		if !ok {
			return targetState{}, errNoTarget
		}
		id, err := idOf(m)
		switch {
		case value.StringAt(m, "metadata", "name") == "":
			return targetState{}, errNoTarget
		case err != nil:
			return targetState{}, err
		}
		return w.find(id)
	default:
		return w.outright(ref, f)
	}
}

// outright finds an object that an action names.
func (w writing) outright(ref *plan.ObjectRef, f *frame) (targetState, error) {
	name, err := w.run.ev.text(ref.Name, f)
	if err != nil {
		return targetState{}, err
	}
	namespace := ""
	if ref.Namespace != nil {
		if namespace, err = w.run.ev.text(ref.Namespace, f); err != nil {
			return targetState{}, err
		}
	}
	id, err := world.Identify(ref.GVK, namespace, name)
	if err != nil {
		return targetState{}, err
	}
	w.run.ev.reader.named(ref.Target, TargetKey(namespace, name))
	return w.find(id)
}

func (w writing) state(o *world.Object) targetState {
	return targetState{id: o.ID(), value: w.run.ev.overlay.of(o), object: o}
}

// find looks an object up in any source of its kind. It returns errNoTarget with the identity
// of one that does not exist, and an error for one that cannot: the API server takes no object
// of that name.
func (w writing) find(id world.ID) (targetState, error) {
	o := w.run.ev.stored(id)
	w.run.ev.note(o)
	if o == nil {
		o = w.run.ev.overlay.created[id]
	}
	if o != nil {
		return w.state(o), nil
	}
	if err := id.Check(w.run.ev.in.Policy.Kinds[id.GVK()].Naming); err != nil {
		return targetState{}, err
	}
	return targetState{id: id}, errNoTarget
}

// write merges wanted fields into an object; nil when that changes nothing.
func (w writing) write(t targetState, subresource string, want *value.Map) *Effect {
	of := w.run.ev.in.Policy.Kinds[t.id.GVK()].Type
	next, patch := mergeDiff(t.value, want, of)
	if patch == nil {
		return nil
	}
	e := &Effect{Verb: VerbPatch, Subresource: subresource, Target: t.id, Type: of, Patch: patch.(*value.Map), Before: t.value}
	w.emit(e)
	w.show(t, next.(*value.Map), nil)
	return e
}

// show shows an object to the rules below as it is after a write. One whose status is of
// the generation before has not been looked at yet by whoever reports there: without the
// next number it would count as ready, in the evaluation that changes it. more, if set,
// reports whether the write also changes fields that are not shown; it is asked only about
// objects whose generation is read.
func (w writing) show(t targetState, next *value.Map, more func() bool) {
	was := value.Path(t.object.Value, "metadata", "generation")
	if n, ok := value.Int(was); ok {
		now := was
		if counts(t.object.Value, next) || more != nil && more() {
			now = value.OfInt(n + 1)
		}
		if !value.Same(value.Path(next, "metadata", "generation"), now) {
			next = value.Overwrite(next, now, "metadata", "generation")
		}
	}
	w.run.ev.overlay.set(t.id, next)
	w.run.ev.reader.changed()
}

// counts reports whether an object differs in more than its metadata and status, which do
// not count as a new generation.
func counts(was, now *value.Map) bool {
	differ := func(a, b *value.Map) bool {
		for i := range a.Len() {
			name, v := a.At(i)
			if name != "metadata" && name != "status" && !value.Same(v, b.Lookup(name)) {
				return true
			}
		}
		return false
	}
	return differ(was, now) || differ(now, was)
}

// create makes an object that does not exist. With refuse, one that turns out
// to exist and to be somebody else's is not taken over.
func (w writing) create(id world.ID, manifest *value.Map, apply, refuse bool) {
	verb := VerbCreate
	if apply {
		verb = VerbApply
	}
	w.emit(&Effect{Verb: verb, Target: id, Patch: manifest, Before: value.Empty, Missing: true, Refuse: refuse, Takes: apply && !refuse})
	w.run.ev.overlay.create(id, manifest)
	w.run.ev.reader.changed()
}

// emit adds an effect of the current item.
func (w writing) emit(e *Effect) {
	if w.run.ev.in.Instead != nil && w.outdated(e) {
		return
	}
	e.Rules, e.Item, e.Rule, e.Finally = []string{w.run.rule.Name}, w.run.ev.item, w.run.index, w.run.rule.Finally
	e.Made = w.run.ev.overlay.created[e.Target] != nil
	w.run.ev.decision.Effects = append(w.run.ev.decision.Effects, e)
	w.run.ev.emitted++
}

// outdated reports whether an effect is for the primary object, which is no longer as the
// one that stands in for it was: it is gone, has changed or is another one of its name. What
// was wanted for the former is not written to it.
func (w writing) outdated(e *Effect) bool {
	if e.Verb == VerbEvent || e.Target != w.run.ev.in.Instead.ID() {
		return false
	}
	now := w.run.ev.in.World.Table(w.run.ev.in.Policy.Primary.Source).Get(w.run.ev.in.Key.Namespace, w.run.ev.in.Key.Name)
	return now == nil || now.UID != w.run.ev.in.Instead.UID || now.Version() != w.run.ev.in.Instead.Version() || !w.run.ev.in.Policy.Primary.Selects(now)
}

// going shows an object to the rules below as one that is being deleted.
func (w writing) going(t targetState) {
	w.run.ev.overlay.set(t.id, value.Overwrite(t.value, value.OfTime(w.run.ev.in.Now), "metadata", "deletionTimestamp"))
	w.run.ev.reader.changed()
}

// makeTarget makes the missing object of a patch.
func (w writing) makeTarget(id world.ID, fields *value.Map) {
	manifest := value.Overwrite(fields, value.OfString(id.APIVersion()), "apiVersion")
	manifest = value.Overwrite(manifest, value.OfString(id.Kind()), "kind")
	manifest = value.Overwrite(manifest, value.OfString(id.Name()), "metadata", "name")
	if id.Namespace() != "" {
		manifest = value.Overwrite(manifest, value.OfString(id.Namespace()), "metadata", "namespace")
	}
	w.create(id, manifest, false, false)
}

// idOf reads an object's identity from its value.
func idOf(m *value.Map) (world.ID, error) {
	kind := schema.GVK{APIVersion: value.StringAt(m, "apiVersion"), Kind: value.StringAt(m, "kind")}
	return world.Identify(kind, value.StringAt(m, "metadata", "namespace"), value.StringAt(m, "metadata", "name"))
}
