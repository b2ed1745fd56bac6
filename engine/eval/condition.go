package eval

import (
	"errors"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
)

// conditions is the path of the conditions of an object.
var conditions = []string{"status", "conditions"}

// condition keeps one condition of an object.
func (x acting) condition(a *plan.Condition, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	want, err := x.wanted(a, f, t)
	if err != nil {
		return err
	}
	list, _ := value.Path(t.value, conditions...).(*value.List)
	changed := false
	if a.Absent {
		list, changed = status.Remove(list, want.Type)
	} else {
		stored, _ := value.Path(t.object.Value, conditions...).(*value.List)
		list, changed = want.Set(list, stored, x.run.ev.in.Now)
	}
	if changed {
		// A merge patch cannot write a part of a list, so all of it is written.
		if e := writing(x).write(t, "status", nest(conditions, t.absentIfEmpty(list, conditions...))); e != nil && !a.Absent {
			e.Conditions = []string{want.Type}
		}
	}
	return nil
}

// wanted evaluates the condition's fields.
func (x acting) wanted(a *plan.Condition, f *frame, t targetState) (c status.Condition, err error) {
	if c.Track = a.Track; !a.NoGeneration {
		c.ObservedGeneration = t.object.Version().Generation
	}
	if c.Type, err = x.run.ev.text(a.Type, f); err != nil {
		return c, err
	}
	if c.Status, err = x.run.ev.text(a.Status, f); err != nil {
		return c, err
	}
	if c.Reason, err = x.run.ev.text(a.Reason, f); err != nil {
		return c, err
	}
	c.Message, err = x.run.ev.text(a.Message, f)
	return c, err
}
