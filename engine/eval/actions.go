package eval

import (
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// act runs one action.
func (r *ruleRun) act(a plan.Action, f *frame) error {
	switch a := a.(type) {
	case *plan.Merge:
		return r.merge(a, f)
	case *plan.Condition:
		return r.condition(a, f)
	case *plan.Event:
		return r.event(a, f)
	case *plan.Log:
		return r.log(a, f)
	case *plan.Select:
		return r.selection(a, f)
	case *plan.ListEntry:
		return r.listEntry(a, f)
	case *plan.Child:
		return r.child(a, f)
	case *plan.Delete:
		return r.deletion(a, f)
	case *plan.Scale, *plan.Evict, *plan.Approve:
		return r.bySubresource(a, f)
	case *plan.Finalizer:
		return r.finalizer(a, f)
	case *plan.Remember:
		return r.remember(a, f)
	case *plan.Fail:
		text, err := r.ev.text(a.Message, f)
		if err != nil {
			return err
		}
		return &expr.Failure{At: a.Pos, Err: errors.New(text)}
	default:
		return fmt.Errorf("unknown action %T", a)
	}
}

// targetState is the object of an action: who it is and what it is now.
type targetState struct {
	id    world.ID
	value *value.Map
	// object is the stored object; nil when it does not exist.
	object *world.Object
}

// errNoTarget says that the object of an action does not exist. There is
// nothing to write to, which is no failure.
var errNoTarget = errors.New("the object does not exist")

func (r *ruleRun) target(ref *plan.ObjectRef, f *frame) (targetState, error) {
	switch {
	case ref.Primary():
		if r.ev.object == nil {
			return targetState{}, errNoTarget
		}
		return r.state(r.ev.object), nil
	case ref.Expression != nil:
		v, err := ref.Expression.Eval(f, r.ev.meter)
		if err != nil {
			return targetState{}, err
		}
		m, ok := value.Unwrap(v).(*value.Map)
		if !ok {
			return targetState{}, errNoTarget
		}
		return r.find(idOf(m))
	default:
		return r.outright(ref, f)
	}
}

// outright finds an object that an action names.
func (r *ruleRun) outright(ref *plan.ObjectRef, f *frame) (targetState, error) {
	id := world.ID{GVK: ref.GVK}
	var err error
	if id.Name, err = r.ev.text(ref.Name, f); err != nil {
		return targetState{}, err
	}
	if ref.Namespace != nil {
		if id.Namespace, err = r.ev.text(ref.Namespace, f); err != nil {
			return targetState{}, err
		}
	}
	r.ev.reader.named(ref.Target, TargetKey(id.Namespace, id.Name))
	return r.find(id)
}

func (r *ruleRun) state(o *world.Object) targetState {
	return targetState{id: o.ID(), value: r.ev.overlay.of(o), object: o}
}

// find looks an object up in any source of its kind.
func (r *ruleRun) find(id world.ID) (targetState, error) {
	o := r.ev.stored(id)
	r.ev.note(o)
	if o != nil {
		return r.state(o), nil
	}
	if o := r.ev.overlay.created[id]; o != nil {
		return r.state(o), nil
	}
	return targetState{}, errNoTarget
}

// stored returns an object from the first source that has it; nil for none.
func (ev *evaluation) stored(id world.ID) (o *world.Object) {
	in := func(source world.Source) bool {
		if source.GVK == id.GVK {
			o = ev.in.World.Table(source).Get(id.Namespace, id.Name)
		}
		return o != nil
	}
	if in(ev.in.Policy.Primary.Source) {
		return o
	}
	for _, input := range ev.in.Policy.Inputs {
		if in(input.Source) {
			return o
		}
	}
	for _, t := range ev.in.Policy.Targets {
		if in(t.Source) {
			return o
		}
	}
	return nil
}

// idOf reads an object's identity from its value.
func idOf(m *value.Map) world.ID {
	return world.ID{
		GVK:       schema.GVK{APIVersion: value.StringAt(m, "apiVersion"), Kind: value.StringAt(m, "kind")},
		Namespace: value.StringAt(m, "metadata", "namespace"),
		Name:      value.StringAt(m, "metadata", "name"),
	}
}

// text evaluates a template that must give a text; nil gives "".
func (ev *evaluation) text(t *cel.Template, f *frame) (string, error) {
	if t == nil {
		return "", nil
	}
	v, err := t.Build(f, ev.meter)
	if err != nil || v == nil {
		return "", err
	}
	s, err := value.Text(v)
	if err != nil {
		return "", &expr.Failure{At: t.Pos(), Err: err}
	}
	return s, nil
}

// merge merges fields: labels, annotations, status and patch.
func (r *ruleRun) merge(a *plan.Merge, f *frame) error {
	t, err := r.target(&a.Of, f)
	missing := errors.Is(err, errNoTarget)
	if missing && !a.Create {
		return nil
	}
	if err != nil && !missing {
		return err
	}
	fields, err := a.Fields.Fields(f, r.ev.meter)
	if err != nil {
		return err
	}
	want := make(map[string]value.Value, len(fields))
	for _, field := range fields {
		want[field.Name] = field.Value
		if field.Value == nil {
			want[field.Name] = value.Null // at the positions a policy names, none removes
		}
	}
	if missing {
		return r.makeTarget(&a.Of, f, nest(a.Under, value.FromMap(want)))
	}
	if e := r.write(t, a.Subresource, joinOwners(t.value, nest(a.Under, value.FromMap(want)))); e != nil {
		e.Unlocked = a.Unlocked
	}
	return nil
}

// write merges wanted fields into an object; nil when that changes nothing.
func (r *ruleRun) write(t targetState, subresource string, want *value.Map) *Effect {
	next, patch := mergeDiff(t.value, want, r.ev.in.Policy.Quantities[t.id.GVK])
	if patch == nil {
		return nil
	}
	e := &Effect{Verb: VerbPatch, Subresource: subresource, Target: t.id, Patch: patch.(*value.Map), Before: t.value}
	r.emit(e)
	r.ev.overlay.set(t.id, next.(*value.Map))
	r.ev.reader.changed()
	return e
}

func (r *ruleRun) event(a *plan.Event, f *frame) error {
	t, err := r.target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	reason, err := r.ev.text(a.Reason, f)
	if err != nil {
		return err
	}
	message, err := r.ev.text(a.Message, f)
	if err != nil {
		return err
	}
	kind := "Normal"
	if a.Warning {
		kind = "Warning"
	}
	event := value.FromMap(map[string]value.Value{
		"type": value.OfString(kind), "reason": value.OfString(value.Cut(reason, status.MaxReason)),
		"message": value.OfString(value.Cut(message, status.MaxEventMessage)),
	})
	r.emit(&Effect{Verb: VerbEvent, Target: t.id, Patch: event, Before: t.value})
	return nil
}

func (r *ruleRun) log(a *plan.Log, f *frame) error {
	message, err := r.ev.text(a.Message, f)
	if err != nil {
		return err
	}
	if err := r.ev.meter.Allocate("log", 0, len(message)); err != nil {
		return &expr.Failure{At: a.Pos, Err: err}
	}
	r.ev.decision.Log = append(r.ev.decision.Log, Line{At: a.Pos, Level: a.Level, Message: message})
	return nil
}
