package eval

import (
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// errorMessage is the name of the text of an error in onError.
var errorMessage = analyze.ErrorMessage.String()

// rules runs the rules in their order: all up to the first that stops, and
// after one that failed only those marked to run finally.
func (ev *evaluation) rules() {
	failed := false
	concerned := ev.concerned()
	run := &ruleRun{}
	for i, r := range ev.in.Policy.Rules {
		if failed && !r.Finally || !concerned(r) || ev.incomplete(r) {
			continue
		}
		*run = ruleRun{ev: ev, rule: r, index: i}
		if ev.in.Details != nil {
			ev.in.Details.within = "rule " + r.Name
		}
		stop := run.run()
		ev.decision.Reached.Add(i)
		if run.fired {
			ev.decision.Fired.Add(i)
		}
		ev.noteRule(run)
		if stop {
			return
		}
		failed = failed || run.failed && !r.ContinueOnError
	}
}

// concerned says which rules are for the primary object: all, or those for one that
// has left the selector, or that is gone.
func (ev *evaluation) concerned() func(*plan.Rule) bool {
	switch {
	case ev.object == nil && ev.in.Policy.Primary.PruneOnly:
		return func(r *plan.Rule) bool { return r.Prunes }
	case ev.in.Leaving && value.Path(ev.object.Value, "metadata", "deletionTimestamp") == nil:
		return func(r *plan.Rule) bool { return r.Leaving }
	default:
		return func(*plan.Rule) bool { return true }
	}
}

// ruleRun is one rule while it runs.
type ruleRun struct {
	ev     *evaluation
	rule   *plan.Rule
	index  int
	fired  bool
	failed bool
	items  int
	effect int // effects before the rule
	match  string
	row    int // of the decision table, from 1
	err    error
	// claimed is what the items so far have taken from later ones.
	claimed []value.Value
	details RuleDetails
	// current is the name of the item.
	current string
}

// run reports whether the evaluation ends here.
func (r *ruleRun) run() (stop bool) {
	r.effect = r.ev.emitted
	base := r.ev.frame()
	if r.rule.ForEach == nil {
		base.declare(r.rule.Locals)
	}
	if r.ev.pendingOnly {
		if r.rule.Debounce != nil {
			r.ev.decision.Ran.Add(r.index)
			r.debounced(base, false)
		}
		return false
	}
	if !r.rule.WhenPerItem {
		holds, err := r.holds(r.rule.When, base)
		r.details.When = explaining{r.ev}.decided(r.rule.When, base)
		if err == nil && r.rule.Debounce != nil {
			r.ev.decision.Ran.Add(r.index)
			r.debounced(base, holds)
			return r.rule.Stop && holds
		}
		if err != nil {
			r.fail(base, "", err)
			return false
		}
		if !holds {
			return false
		}
	}
	r.allItems(base)
	return r.rule.Stop && (!r.rule.WhenPerItem || r.items > 0)
}

func (r *ruleRun) holds(when *cel.Program, f *frame) (bool, error) {
	if when == nil {
		return true, nil
	}
	r.ev.judged(when, f)
	v, err := when.Eval(f, r.ev.meter)
	if err != nil {
		return false, err
	}
	holds, ok := v.Value().(bool)
	if !ok {
		return false, &expr.Failure{At: when.Pos(), Err: fmt.Errorf("when gave %s, not true or false", v.Type().TypeName())}
	}
	return holds, nil
}

// allItems runs the rule for the items of its list, or once if it has none. It has fired
// if it ran for one.
func (r *ruleRun) allItems(base *frame) {
	switch {
	case r.rule.ForEach != nil:
		items := r.list(base)
		r.each(items[:r.allow(base, len(items))])
	case r.allow(base, 1) == 1:
		r.one(base, nil)
	}
	r.fired = r.items > 0
}

// allow returns the number of items for which the rate lets the rule run now. It adds the
// effect that records their times, and notes when the others run.
func (r *ruleRun) allow(base *frame, items int) int {
	if r.rule.Rate == nil || items == 0 {
		return items
	}
	p, err := newPace(r.rule.Rate, func(p *cel.Program) (value.Value, error) { return p.Eval(base, r.ev.meter) }, r.ev.in.Now)
	if err != nil {
		r.fail(base, "", err)
		return 0
	}
	run := max(0, min(items, p.max-len(p.times)))
	for range run {
		p.times = append(p.times, ceil(r.ev.in.Now))
	}
	if run > 0 {
		f := r.ev.frame()
		f.push(r.rule.Rate.Noted, value.OfString(p.text()))
		if err := r.attempt(r.rule.Rate.Note, f); err != nil {
			r.fail(base, "", err)
			return 0
		}
	}
	if run < items {
		due := p.times[len(p.times)-p.max].Add(p.per)
		r.ev.decision.Rated = append(r.ev.decision.Rated, Rated{Rule: r.index, Items: items - run, Due: due})
		r.ev.noteFlip(due)
	}
	return run
}

// list returns the items of the rule's list, as the overlay has them when the rule begins.
func (r *ruleRun) list(base *frame) []value.Value {
	list, err := r.rule.ForEach.Eval(base, r.ev.meter)
	if err != nil {
		r.fail(base, "", err)
		return nil
	}
	items, ok := value.Unwrap(list).(*value.List)
	if !ok {
		if list = value.Unwrap(list); !value.IsNull(list) {
			r.fail(base, "", &expr.Failure{At: r.rule.ForEach.Pos(), Err: fmt.Errorf("forEach gave %s, not a list", list.Type().TypeName())})
		}
		return nil
	}
	return items.Items()
}

// each runs the rule for every item.
func (r *ruleRun) each(items []value.Value) {
	r.ev.meter.Grow(len(items))
	before := r.ev.scratch.mark()
	for _, item := range items {
		r.ev.scratch.back(before)
		f := r.ev.frame()
		f.push(r.rule.As, r.ev.refresh(item))
		f.declare(r.rule.Locals)
		if r.one(f, item); r.over(r.err) {
			return
		}
	}
}

// refresh returns an item that is an object as the overlay has it now.
func (ev *evaluation) refresh(item value.Value) value.Value {
	m, ok := item.(*value.Map)
	if !ok || len(ev.overlay.objects) == 0 {
		return item
	}
	id, _ := idOf(m)
	if v, ok := ev.overlay.objects[id]; ok {
		return v
	}
	return item
}

// one runs the rule for one item. All of the item's effects come about, or
// none of them.
func (r *ruleRun) one(f *frame, item value.Value) {
	if r.rule.WhenPerItem {
		holds, err := r.holds(r.rule.When, f)
		if err != nil {
			r.noteItem(f, item, false, err)
			r.fail(f, value.NameOf(item), err)
			return
		}
		if !holds {
			r.noteItem(f, item, false, nil)
			return
		}
	}
	r.ev.decision.Ran.Add(r.index)
	r.items++
	r.ev.item++
	r.current, r.match, r.row = value.NameOf(item), "", 0
	actions, err := r.choose(f)
	if err == nil {
		err = r.attempt(actions, f)
	}
	r.noteItem(f, item, true, err)
	if err != nil {
		r.fail(f, value.NameOf(item), err)
	}
}

// choose returns the actions of the rule, or those of the first case that
// matches.
func (r *ruleRun) choose(f *frame) ([]plan.Action, error) {
	if len(r.rule.Cases) == 0 {
		return r.rule.Do, nil
	}
	for i := range r.rule.Cases {
		c := &r.rule.Cases[i]
		holds, err := r.holds(c.When, f)
		if err != nil {
			return nil, err
		}
		if holds {
			r.match, r.row = c.Name, i+1
			return c.Do, nil
		}
	}
	return nil, nil
}

// attempt runs actions; when one fails, nothing of them remains.
func (r *ruleRun) attempt(actions []plan.Action, f *frame) error {
	effects, lines, applied := len(r.ev.decision.Effects), len(r.ev.decision.Log), len(r.ev.applications.list)
	r.ev.overlay.save()
	r.ev.remembering.save()
	if err := r.perform(actions, f); err != nil {
		r.ev.overlay.restore()
		r.ev.emitted -= len(r.ev.decision.Effects) - effects
		r.ev.decision.Effects = r.ev.decision.Effects[:effects]
		r.ev.decision.Log = r.ev.decision.Log[:lines]
		r.ev.applications.back(applied)
		r.ev.remembering.restore(r.ev.decision.Remember)
		r.ev.reader.changed()
		return err
	}
	coalescing{r.ev}.coalesce(effects)
	return nil
}

// perform runs actions up to the first that fails, is too large or was refused.
func (r *ruleRun) perform(actions []plan.Action, f *frame) error {
	for _, a := range actions {
		first := len(r.ev.decision.Effects)
		if err := (acting{r}).act(a, f); err != nil {
			return err
		}
		if err := r.fit(first); err != nil {
			return err
		}
		if err := r.rejected(first); err != nil {
			return err
		}
	}
	return nil
}

// fail records that an item failed, and runs the rule's onError.
func (r *ruleRun) fail(f *frame, item string, err error) {
	r.failed, r.err = true, err
	r.noteChild(f, err)
	r.ev.decision.Problems = append(r.ev.decision.Problems, Problem{Rule: r.rule.Name, Item: item, Err: err})
	onError := r.rule.OnError
	if own, ok := errors.AsType[*askFailure](err); ok {
		onError, f = own.Ask.OnError, own.frame
	}
	if len(onError) == 0 || r.over(err) || r.rule.OnErrorPerItem && !f.knows(r.rule.As) {
		return
	}
	r.ev.item++
	inner := f.extend()
	inner.push(errorMessage, value.OfString(expr.Message(err)))
	if again := r.attempt(onError, inner); again != nil {
		r.ev.decision.Problems = append(r.ev.decision.Problems, Problem{Rule: r.rule.Name, Item: item, Err: fmt.Errorf("onError: %w", again)})
	}
}
