package eval

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Details are how an evaluation came to its decision, for people. An evaluation
// fills them in when its Input has some; otherwise they cost nothing.
type Details struct {
	// Rules are those that were reached, in order.
	Rules []RuleDetails
	// Variables are those that were computed, as often as they changed.
	Variables []VariableDetails
	// Deadlines are the times at which the decision changes by itself.
	Deadlines []Deadline
	// Reads are the objects that the decision depends on.
	Reads []Read
	// About is the name of something that is asked about; "" asks about nothing.
	// Lists say to which lists of the policy it belongs.
	About string
	Lists []AboutDetails
	// within is what is evaluated now.
	within string
}

// RuleDetails are what was decided about a rule.
type RuleDetails struct {
	Rule *plan.Rule
	// Fired says that the rule ran, or ran for an item; Failed that it, or an
	// item, failed.
	Fired, Failed bool
	// Delayed is the delay of a rule with a debounce or a rate, or nil.
	Delayed *Delay
	// When is its condition; nil when it has none, or one for each item.
	When *ConditionDetails
	// Items are those of its list; a rule without a list has one.
	Items      []ItemDetails
	Selections []SelectionDetails
	// Effects is how many effects it had.
	Effects int
	Err     error
}

// ConditionDetails are what a condition came to, with the parts of it that
// decided.
type ConditionDetails struct {
	Program *cel.Program
	Value   value.Value
	Err     error
	Parts   []ConditionDetails
}

// ItemDetails are what was decided about an item.
type ItemDetails struct {
	// Key is the item's name, Case the row of the decision table that matched, and
	// Row its number, from 1; 0 is none.
	Key, Case string
	Row       int
	// Ran says that its actions ran.
	Ran  bool
	When *ConditionDetails
	// Rows are the conditions of the decision table when none of them holds.
	Rows      []ConditionDetails
	Variables []VariableDetails
	Err       error
}

// VariableDetails are the value of a variable.
type VariableDetails struct {
	Name  string
	Value value.Value
	Err   error
}

// SelectionDetails are what a select chose from.
type SelectionDetails struct {
	// Item is the name of the rule's item, Summary the text about the outcome.
	Item, Summary string
	*selection.Details
}

// Deadline is a time at which a decision changes by itself, and what changes it.
type Deadline struct {
	At  time.Time
	Why string
}

// Read is an object that a decision depends on, and what of it.
type Read struct {
	Source world.Source
	Object *world.Object
	Mask   *value.Mask
}

// explaining finds out what decided about a condition, for the details of an evaluation.
type explaining struct{ ev *evaluation }

// decided evaluates a condition once more, part by part, at no cost for the
// policy.
func (x explaining) decided(p *cel.Program, f *frame) *ConditionDetails {
	if x.ev.in.Details == nil || p == nil {
		return nil
	}
	out := x.explained(p, f, 0)
	return &out
}

// explained evaluates a condition with the parts that decided. Of a part that is
// a variable the parts that decided about the variable are its parts.
func (x explaining) explained(p *cel.Program, f *frame, depth int) ConditionDetails {
	meter, before := expr.NewMeter(x.ev.meter.Parent()), len(x.ev.in.Details.Deadlines)
	defer func() {
		meter.Close()
		x.ev.in.Details.Deadlines = x.ev.in.Details.Deadlines[:before] // those of parts that do not count
	}()
	one := func(p *cel.Program) ConditionDetails {
		v, err := p.Eval(f, meter)
		return ConditionDetails{Program: p, Value: v, Err: err}
	}
	out := one(p)
	parts := analyze.ConditionOf(p).Deciding(func(p *cel.Program) (holds, ok bool) {
		if v := one(p); v.Err == nil {
			holds, ok = v.Value.Value().(bool)
		}
		return holds, ok
	})
	for _, part := range parts {
		if part == p {
			out.Parts = append(out.Parts, x.behind(p.Source(), depth)...)
			continue
		}
		d := one(part)
		d.Parts = x.behind(part.Source(), depth)
		out.Parts = append(out.Parts, d)
	}
	return out
}

// noteRule records what became of a rule.
func (ev *evaluation) noteRule(r *ruleRun) {
	if ev.in.Details == nil {
		return
	}
	r.details.Rule, r.details.Fired, r.details.Failed, r.details.Err = r.rule, r.fired, r.ev.decision.Failed(r.rule.Name), r.err
	r.details.Effects, r.details.Delayed = ev.emitted-r.effect, ev.decision.Delayed(r.index)
	ev.in.Details.Rules = append(ev.in.Details.Rules, r.details)
}

// noteItem records what became of an item.
func (r *ruleRun) noteItem(f *frame, item value.Value, ran bool, err error) {
	if r.ev.in.Details == nil {
		return
	}
	d := ItemDetails{Key: value.NameOf(item), Case: r.match, Row: r.row, Ran: ran, Err: err}
	if r.rule.WhenPerItem {
		d.When = explaining{r.ev}.decided(r.rule.When, f)
	}
	if ran && err == nil && r.row == 0 {
		for i := range r.rule.Cases {
			d.Rows = append(d.Rows, *explaining{r.ev}.decided(r.rule.Cases[i].When, f))
		}
	}
	for _, l := range f.locals {
		if l.variable != nil && l.state == known {
			d.Variables = append(d.Variables, VariableDetails{Name: l.name, Value: l.value, Err: l.err})
		}
	}
	r.details.Items = append(r.details.Items, d)
}

// noteVariable records the value of a variable of the policy.
func (ev *evaluation) noteVariable(name string, v value.Value, err error) {
	if ev.in.Details == nil {
		return
	}
	list := ev.in.Details.Variables
	for _, last := range slices.Backward(list) {
		if last.Name != name {
			continue
		}
		if (last.Err == nil) == (err == nil) && (identical(last.Value, v) || last.Value != nil && v != nil && value.IsTrue(last.Value.Equal(v))) {
			return
		}
		break
	}
	ev.in.Details.Variables = append(list, VariableDetails{Name: name, Value: v, Err: err})
}

// noteDeadline records a time at which the decision changes.
func (ev *evaluation) noteDeadline(at time.Time) {
	if ev.in.Details == nil {
		return
	}
	for _, d := range ev.in.Details.Deadlines {
		if d.At.Equal(at) && d.Why == ev.in.Details.within {
			return
		}
	}
	ev.in.Details.Deadlines = append(ev.in.Details.Deadlines, Deadline{At: at, Why: ev.in.Details.within})
}

// noteReads records the objects that a decision depends on.
func (r *memoReader) noteReads() {
	d, p := r.ev.in.Details, r.ev.in.Policy
	if d == nil {
		return
	}
	if r.ev.object != nil {
		d.Reads = append(d.Reads, Read{Source: p.Primary.Source, Object: r.ev.object, Mask: p.ObjectReads})
	}
	for i, in := range p.Inputs {
		for _, m := range r.memo.inputs[i].members {
			if r.memo.lookups.reads(i, m.key) {
				d.Reads = append(d.Reads, Read{Source: in.Source, Object: m.object, Mask: in.Reads})
			}
		}
		if o := r.single(i, in); o != nil {
			d.Reads = append(d.Reads, Read{Source: in.Source, Object: o, Mask: in.Reads})
		}
	}
	for at := range r.memo.lookups.others {
		if !at.Target {
			continue
		}
		t := p.Targets[at.Input]
		id := TargetID(t.Source.GVK, at.Key)
		if o := r.ev.in.World.Table(t.Source).Get(id.Namespace(), id.Name()); o != nil {
			d.Reads = append(d.Reads, Read{Source: t.Source, Object: o, Mask: t.Reads})
		}
	}
}

// single returns the object of an input that was read and has only one.
func (r *memoReader) single(i int, in *plan.Input) *world.Object {
	if in.Shape != plan.One || in.Off || !r.memo.lookups.reads(i, "") {
		return nil
	}
	name, err := in.Get.Eval(r.ev.frame(), r.ev.meter)
	if err != nil {
		return nil
	}
	return lookUp(r.ev.in.World.Table(in.Source), value.Unwrap(name), r.ev.in.Key.Namespace)
}
