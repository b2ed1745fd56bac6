package eval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// computation computes the variables of an evaluation.
type computation struct{ ev *evaluation }

// plainVariable computes a variable of any form, from nothing.
func (x computation) plainVariable(v *plan.Variable, f *frame) (value.Value, error) {
	switch {
	case v.Program != nil:
		x.ev.judged(v.Program, f)
		return v.Program.Eval(f, x.ev.meter)
	case v.Collection != nil:
		return x.plainCollection(v, f)
	case v.Rego != nil:
		return x.rego(v, f)
	case v.Value == nil:
		return nil, &expr.Failure{At: v.Pos, Err: fmt.Errorf("the variable %q cannot be computed by this build", v.Name)}
	}
	if v.When != nil {
		x.ev.judged(v.When, f)
		holds, err := v.When.Eval(f, x.ev.meter)
		if err != nil {
			return nil, err
		}
		if !value.IsTrue(holds) {
			return value.None, nil
		}
	}
	out, err := v.Value.Build(f, x.ev.meter)
	if out == nil && err == nil {
		return value.None, nil
	}
	return out, err
}

// rego asks a Rego module.
func (x computation) rego(v *plan.Variable, f *frame) (value.Value, error) {
	input, err := x.regoInput(v, f)
	if err != nil {
		return nil, err
	}
	out, err := v.Rego.Query.Eval(x.ev.meter.Parent(), x.ev.meter, x.ev.in.Now, input)
	if err != nil {
		return nil, err
	}
	if out, err = v.Rego.Result.Take(out); err != nil {
		return nil, &expr.Failure{At: v.Pos, Err: err}
	}
	return out, nil
}

// regoInput is null for a query without an input, and for none.
func (x computation) regoInput(v *plan.Variable, f *frame) (value.Value, error) {
	if v.Value == nil {
		return value.Null, nil
	}
	input, err := v.Value.Build(f, x.ev.meter)
	if input == nil && err == nil {
		input = value.Null
	}
	return input, err
}

// entry is what a collection computed for one item.
type entry struct {
	present bool
	value   value.Value
	key     string
	order   []value.Value
}

// unless returns the old entry if the new one is the same, and otherwise the new one,
// with the old value if that is the same.
func (e *entry) unless(old *entry) *entry {
	if !e.present || !old.present {
		if e.present == old.present {
			return old
		}
		return e
	}
	if value.Alike(e.value, old.value) {
		e.value = old.value
	}
	if e.key == old.key && identical(e.value, old.value) && slices.EqualFunc(e.order, old.order, identical) {
		return old
	}
	return e
}

// plainCollection computes every item.
func (x computation) plainCollection(v *plan.Variable, f *frame) (value.Value, error) {
	c := v.Collection
	items, err := x.items(c, f)
	if err != nil {
		return nil, err
	}
	entries := make([]*entry, 0, items.Len())
	inner, made := f.extend(), computed{}
	for _, item := range items.Items() {
		e := made.entries.one()
		if err := x.computeItem(c, item, inner, len(f.locals), e, &made); err != nil {
			return nil, itemError(item, err)
		}
		entries = append(entries, e)
	}
	return assemble(c, v, entries)
}

// items evaluates the list of a collection.
func (x computation) items(c *plan.Collection, f *frame) (*value.List, error) {
	over, err := c.ForEach.Eval(f, x.ev.meter)
	if err != nil {
		return nil, err
	}
	return selection.ListOf(c.ForEach, "forEach needs", over, x.ev.meter)
}

// computed is where the results of items are put, many of them in one piece of
// memory.
type computed struct {
	entries chunks[entry]
	order   chunks[value.Value]
	repeats repeats
}

// computeItem computes one item of a collection, in a frame of which the first
// names stay.
func (x computation) computeItem(c *plan.Collection, item value.Value, f *frame, outer int, e *entry, made *computed) error {
	f.locals = f.locals[:outer]
	f.push(c.As, item)
	f.declare(c.Locals)
	e.value = item
	if c.When != nil {
		x.ev.judged(c.When, f)
		holds, err := c.When.Eval(f, x.ev.meter)
		if err != nil || !value.IsTrue(holds) {
			return err
		}
	}
	if c.Value != nil {
		v, err := c.Value.Build(f, x.ev.meter)
		if err != nil || v == nil {
			return err
		}
		e.value = v
	}
	f.push("value", e.value)
	return x.place(c, e, f, made)
}

// place computes where an item's value belongs.
func (x computation) place(c *plan.Collection, e *entry, f *frame, made *computed) error {
	if c.Key != nil {
		key, err := c.Key.Eval(f, x.ev.meter)
		if err != nil {
			return err
		}
		text, ok := value.Str(value.Unwrap(key))
		if !ok {
			return &expr.Failure{At: c.Key.Pos(), Err: errors.New("a key must be a text")}
		}
		if e.key = text; text == "" {
			return nil // no key, no place in the map
		}
	}
	if len(c.OrderBy) > 0 {
		e.order = made.order.take(len(c.OrderBy))
		for i, o := range c.OrderBy {
			v, err := o.Eval(f, x.ev.meter)
			if err != nil {
				return err
			}
			e.order[i] = v
		}
	}
	e.present = true
	return nil
}

func itemError(item value.Value, err error) error {
	if name := value.NameOf(item); name != "" {
		return fmt.Errorf("%w (item %q)", err, value.Cut(name, 253))
	}
	return err
}

// assemble makes the collection's value of what its items gave, in a list that it
// changes.
func assemble(c *plan.Collection, v *plan.Variable, entries []*entry) (value.Value, error) {
	present := entries[:0]
	for _, e := range entries {
		if e.present {
			present = append(present, e)
		}
	}
	if c.Unique {
		present = distinct(present)
	}
	sortEntries(c, present)
	if c.Shape == plan.Keyed || c.Shape == plan.Grouped {
		return byKey(c, v, present)
	}
	out := make([]value.Value, len(present))
	for i, e := range present {
		out[i] = e.value
	}
	return value.NewList(out), nil
}

// byKey makes a map of what items gave, by their keys.
func byKey(c *plan.Collection, v *plan.Variable, list []*entry) (value.Value, error) {
	all := newPairs(len(list))
	for _, e := range list {
		all.add(e.key, e.value)
	}
	if c.Shape == plan.Grouped {
		return all.grouped(), nil
	}
	out, twice := all.keyed()
	if twice != nil {
		return nil, &expr.Failure{At: v.Pos, Err: fmt.Errorf("two items of %q have the key %q", v.Name, value.Cut(*twice, 253))}
	}
	return out, nil
}
