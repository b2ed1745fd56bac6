package eval

import (
	"slices"

	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// frame resolves the names of an expression: the local ones first, then those
// of the policy.
type frame struct {
	ev     *evaluation
	locals []local
}

// local is a name of a rule, a collection or an item. A variable is computed
// when it is first used.
type local struct {
	name     string
	value    value.Value
	err      error
	variable *plan.Variable
	state    int8
}

const (
	pending int8 = iota
	computing
	known
)

var _ interpreter.Activation = (*frame)(nil)

// Parent implements interpreter.Activation.
func (f *frame) Parent() interpreter.Activation { return nil }

// ResolveName implements interpreter.Activation.
func (f *frame) ResolveName(name string) (any, bool) {
	for n := len(f.locals); n > 0; n-- {
		if f.locals[n-1].name == name {
			return f.local(n - 1), true
		}
	}
	slot, ok := f.ev.in.Policy.Slots.Of(name)
	if !ok {
		return nil, false
	}
	return f.ev.slot(slot), true
}

// knows reports whether a name stands for an item, or for a variable of a rule.
func (f *frame) knows(name string) bool {
	return slices.ContainsFunc(f.locals, func(l local) bool { return l.name == name })
}

// slot returns the value of a name of the policy, as an error value when it
// failed.
func (ev *evaluation) slot(slot plan.Slot) value.Value {
	switch slot.Kind {
	case plan.Param:
		return slot.Value
	case plan.Object:
		return ev.objectValue()
	case plan.KeyName:
		return value.OfString(ev.in.Key.Name)
	case plan.KeyNamespace:
		return value.OfString(ev.in.Key.Namespace)
	case plan.InputSlot:
		return ev.visible(slot, ev.in.Policy.Inputs[slot.Index].Shape)
	case plan.VariableSlot:
		return ev.visible(slot, variableShape(ev.in.Policy.Variables[slot.Index]))
	case plan.Now:
		ev.unsettled = true
		return value.OfTime(ev.in.Now)
	case plan.Initial:
		return value.OfBool(ev.in.Initial)
	case plan.Leaving:
		return value.OfBool(ev.in.Leaving)
	case plan.Failures:
		ev.reader.saw(slot, ev.failures.value())
		return ev.failures.value()
	default:
		ev.asked = true
		if ev.call == nil {
			ev.call = ev.callOf(ev.in.Now)
		}
		return ev.call
	}
}

func variableShape(v *plan.Variable) plan.Shape {
	if v.Collection != nil {
		return v.Collection.Shape
	}
	return plan.List
}

// fetch returns the value of an input or a variable, or the failures of children.
func (ev *evaluation) fetch(slot plan.Slot) (value.Value, error) {
	switch slot.Kind {
	case plan.InputSlot:
		return ev.reader.input(slot.Index)
	case plan.Failures:
		return ev.failures.value(), nil
	}
	return ev.reader.variable(slot.Index)
}

// visible returns the value that an expression sees: of a map, a view that
// tells which of its entries are looked up.
func (ev *evaluation) visible(slot plan.Slot, shape plan.Shape) value.Value {
	v, err := ev.fetch(slot)
	if err != nil {
		ev.met(err)
		failed := cel.ErrorValue(err)
		ev.reader.saw(slot, failed)
		return failed
	}
	if m, ok := v.(*value.Map); ok && (shape == plan.Keyed || shape == plan.Grouped) {
		return ev.reader.view(slot, m)
	}
	ev.reader.saw(slot, v)
	return v
}

// local returns a local name's value.
func (f *frame) local(i int) value.Value {
	l := &f.locals[i]
	if l.state == pending {
		l.state = computing
		v, err := f.compute(l.variable, i)
		l = &f.locals[i] // computing may have moved the slice
		l.value, l.err, l.state = v, err, known
	}
	if l.err != nil {
		return cel.ErrorValue(l.err)
	}
	return l.value
}

// compute evaluates a local variable, which sees the names before it.
func (f *frame) compute(v *plan.Variable, at int) (value.Value, error) {
	all := f.locals
	f.locals = all[:at:at]
	out, err := computation{f.ev}.plainVariable(v, f)
	f.locals = all // what it computed on the way stays known
	return out, err
}

// extend returns a frame that can be added to without touching this one.
func (f *frame) extend() *frame {
	out := f.ev.frame()
	out.locals = f.locals[:len(f.locals):len(f.locals)]
	return out
}

// spareNames is for how many names more than needed a frame gets room.
const spareNames = 2

// grow makes room for so many more names.
func (f *frame) grow(more int) {
	if n := len(f.locals) + more; n > cap(f.locals) {
		f.locals = append(f.ev.scratch.room(n+spareNames), f.locals...)
	}
}

// push adds a local name with a value.
func (f *frame) push(name string, v value.Value) {
	f.grow(1)
	f.locals = append(f.locals, local{name: name, value: v, state: known})
}

// declare adds variables, to be computed when used.
func (f *frame) declare(variables []*plan.Variable) {
	if len(variables) == 0 {
		return
	}
	f.grow(len(variables))
	for _, v := range variables {
		f.locals = append(f.locals, local{name: v.Name, variable: v})
	}
}
