package eval

import (
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
)

// acting runs the actions of a rule.
type acting struct{ run *ruleRun }

// act runs one action.
func (x acting) act(a plan.Action, f *frame) error {
	switch a := a.(type) {
	case *plan.Merge:
		return x.merge(a, f)
	case *plan.Condition:
		return x.condition(a, f)
	case *plan.Event:
		return x.event(a, f)
	case *plan.Log:
		return x.log(a, f)
	case *plan.Select:
		return choosing(x).selection(a, f)
	case *plan.ListEntry:
		return x.listEntry(a, f)
	case *plan.Child:
		return x.child(a, f)
	case *plan.Delete:
		return x.deletion(a, f)
	case *plan.Scale:
		return x.scale(a, f)
	case *plan.Evict:
		return x.eviction(a, f)
	case *plan.Approve:
		return x.approval(a, f)
	case *plan.Finalizer:
		return x.finalizer(a, f)
	case *plan.Remember:
		return x.remember(a, f)
	case *plan.Fail:
		return x.fail(a, f)
	default:
		return fmt.Errorf("unknown action %T", a)
	}
}

// fail fails the item with the message.
func (x acting) fail(a *plan.Fail, f *frame) error {
	text, err := x.run.ev.text(a.Message, f)
	if err != nil {
		return err
	}
	return &expr.Failure{At: a.Pos, Err: errors.New(text)}
}

// merge merges fields: labels, annotations, status and patch.
func (x acting) merge(a *plan.Merge, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	missing := errors.Is(err, errNoTarget)
	if missing && !a.Create {
		return nil
	}
	if err != nil && !missing {
		return err
	}
	fields, err := x.run.ev.fields(a.Fields, f)
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
		writing(x).makeTarget(t.id, nest(a.Under, value.FromMap(want)))
		return nil
	}
	if e := writing(x).write(t, a.Subresource, joinOwners(t.value, nest(a.Under, value.FromMap(want)))); e != nil {
		e.Unlocked = a.Unlocked
	}
	return nil
}

func (x acting) event(a *plan.Event, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	reason, err := x.run.ev.text(a.Reason, f)
	if err != nil {
		return err
	}
	message, err := x.run.ev.text(a.Message, f)
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
	writing(x).emit(&Effect{Verb: VerbEvent, Target: t.id, Patch: event, Before: t.value})
	return nil
}

func (x acting) log(a *plan.Log, f *frame) error {
	message, err := x.run.ev.text(a.Message, f)
	if err != nil {
		return err
	}
	if err := x.run.ev.meter.Allocate("log", 0, len(message)); err != nil {
		return &expr.Failure{At: a.Pos, Err: err}
	}
	x.run.ev.decision.Log = append(x.run.ev.decision.Log, Line{At: a.Pos, Level: a.Level, Message: message})
	return nil
}
