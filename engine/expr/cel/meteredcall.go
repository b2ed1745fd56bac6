package cel

import (
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
)

// callArgs are those of a call. An array, because a slice would be allocated.
type callArgs = direct.Args

// meteredCall is a call that is charged before it is made.
type meteredCall struct {
	interpreter.InterpretableCall
	args   []interpreter.InterpretableV2
	demand *demand
	name   string
	impl   *functions.Overload
}

var _ interpreter.InterpretableCall = (*meteredCall)(nil)

// Exec implements interpreter.InterpretableV2.
func (c *meteredCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	var args callArgs
	for i, arg := range c.args {
		v := arg.Exec(frame)
		if types.IsUnknownOrError(v) {
			return v
		}
		args[i] = v
	}
	charge(frame, c.name, c.demand.need(&args))
	return types.LabelErrNode(c.ID(), c.call(&args))
}

// Eval implements interpreter.Interpretable.
func (c *meteredCall) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// call makes the call as the interpreter does.
func (c *meteredCall) call(args *callArgs) ref.Val {
	n := len(c.args)
	if c.demand.instead != nil {
		if out := c.demand.instead(args); out != nil {
			return out
		}
	}
	if c.impl == nil || c.impl.OperandTrait != 0 && !args[0].Type().HasTrait(c.impl.OperandTrait) {
		if args[0].Type().HasTrait(traits.ReceiverType) {
			return args[0].(traits.Receiver).Receive(c.Function(), c.InterpretableCall.OverloadID(), args[1:n])
		}
		return types.NewErr("no such overload: %s", c.Function())
	}
	switch {
	case n == 1 && c.impl.Unary != nil:
		return c.impl.Unary(args[0])
	case n == 2 && c.impl.Binary != nil:
		return c.impl.Binary(args[0], args[1])
	}
	return c.impl.Function(args[:n]...)
}

// meteredText is the text of a call with a literal pattern. CEL puts a call of
// its own in the place of such a call and keeps the arguments, so what is to be
// charged is charged when the text is known.
type meteredText struct {
	interpreter.InterpretableV2
	name         string
	instructions int
	demand       *demand
}

// Exec implements interpreter.InterpretableV2.
func (t *meteredText) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := t.InterpretableV2.Exec(frame)
	if types.IsUnknownOrError(v) {
		return v
	}
	charge(frame, t.name, t.demand.need(&callArgs{v, types.Int(t.instructions)}))
	return v
}

// Eval implements interpreter.Interpretable.
func (t *meteredText) Eval(vars interpreter.Activation) ref.Val {
	return t.Exec(interpreter.AsFrame(vars))
}

// patternCall is a call with a literal pattern, before CEL replaces it.
type patternCall struct {
	interpreter.InterpretableCall
	args []interpreter.InterpretableV2
}

// Args implements interpreter.InterpretableCall.
func (c *patternCall) Args() []interpreter.InterpretableV2 { return c.args }

// meterVariable returns the meter to the calls of a program. No expression can
// spell it.
const meterVariable = "@meter"

// metered is a scope with a meter.
type metered struct {
	expr.Scope
	meter *expr.Meter
	// err is why a call was refused.
	err error
}

// ResolveName implements expr.Scope.
func (m *metered) ResolveName(name string) (any, bool) {
	if name == meterVariable {
		return m, true
	}
	return m.Scope.ResolveName(name)
}

// refuse ends the run: nothing in the expression can catch that.
func (m *metered) refuse(err error) {
	m.err = err
	panic(interpreter.EvalCancelledError{Message: "refused"})
}

// findMeter finds the meter of the run.
func findMeter(frame *interpreter.ExecutionFrame, what string) *metered {
	found, _ := frame.ResolveName(meterVariable)
	m, ok := found.(*metered)
	if !ok {
		panic(interpreter.EvalCancelledError{Message: "nobody counts what " + what + " costs"})
	}
	return m
}

// charge charges a call, and ends the run if it may not be made.
func charge(frame *interpreter.ExecutionFrame, name string, need expr.Need) {
	if direct.Free(need) {
		return
	}
	m := findMeter(frame, name)
	if err := m.meter.Charge(name, need); err != nil {
		m.refuse(err)
	}
}
