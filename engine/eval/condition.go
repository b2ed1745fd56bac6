package eval

import (
	"errors"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
)

// condition keeps one condition of an object.
func (r *ruleRun) condition(a *plan.Condition, f *frame) error {
	t, err := r.target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	want, err := r.wanted(a, f, t)
	if err != nil {
		return err
	}
	list, _ := value.Path(t.value, "status", "conditions").(*value.List)
	changed := false
	if a.Absent {
		list, changed = status.Remove(list, want.Type)
	} else {
		list, changed = want.Set(list, r.ev.in.Now)
	}
	if changed {
		// A merge patch cannot write a part of a list, so all of it is written.
		if e := r.write(t, "status", nest([]string{"status", "conditions"}, list)); e != nil && !a.Absent {
			e.Conditions = []string{want.Type}
		}
	}
	return nil
}

// wanted evaluates the condition's fields.
func (r *ruleRun) wanted(a *plan.Condition, f *frame, t targetState) (c status.Condition, err error) {
	if c.Track = a.Track; !a.NoGeneration {
		c.ObservedGeneration = t.object.Version().Generation
	}
	if c.Type, err = r.ev.text(a.Type, f); err != nil {
		return c, err
	}
	if c.Status, err = r.ev.text(a.Status, f); err != nil {
		return c, err
	}
	if c.Reason, err = r.ev.text(a.Reason, f); err != nil {
		return c, err
	}
	c.Message, err = r.ev.text(a.Message, f)
	return c, err
}
