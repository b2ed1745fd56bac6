package cel

import (
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
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
	switch {
	case c.demand.instead != nil:
		if out := c.demand.instead(args); out != nil {
			return out
		}
	case c.impl == nil || c.impl.OperandTrait != 0 && !args[0].Type().HasTrait(c.impl.OperandTrait):
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

// meterer puts the charging into a program that is planned.
type meterer struct {
	env     *Env
	checked *ast.AST
	// simple is set for programs of bounded functions without a loop.
	simple bool
	costs  costs
	// read are the calls x in list with a list that is read.
	read map[int64]bool
	// counted are the loops that are charged, by their conditions, charged the calls.
	counted map[int64]bool
	charged map[int64]*demand
}

func newMeterer(env *Env, checked *ast.AST, simple bool) *meterer {
	m := &meterer{
		env: env, checked: checked, simple: simple, costs: costs{rounds: map[int64]uint64{}},
		read: map[int64]bool{}, counted: map[int64]bool{}, charged: map[int64]*demand{},
	}
	readLists(checked.Expr(), nil, m.read)
	return m
}

// metered reports whether something is charged.
func (m *meterer) metered() bool { return len(m.counted)+len(m.charged) > 0 }

// Call implements direct.Library.
func (m *meterer) Call(e ast.Expr) *direct.Call {
	overload := ""
	if to := m.checked.ReferenceMap()[e.ID()]; to != nil && len(to.OverloadIDs) == 1 {
		overload = to.OverloadIDs[0]
	}
	impl := m.env.demands.implementation(e.AsCall().FunctionName(), overload)
	d := m.charged[e.ID()]
	switch {
	case impl == nil || d != nil && d.pattern:
		return nil
	case d == nil:
		return &direct.Call{Overload: impl}
	}
	return &direct.Call{Overload: impl, Need: d.need, Instead: d.instead}
}

// Round implements direct.Library.
func (m *meterer) Round(condition ast.Expr) uint64 { return m.costs.rounds[condition.ID()] }

// option decorates the calls of a program.
func (m *meterer) option() cel.ProgramOption { return cel.CustomDecoratorV2(m.decorate) }

// decorate puts what charges in the place of a node of the plan.
func (m *meterer) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	out, err := m.call(i)
	if err != nil {
		return nil, err
	}
	if cost, ok := m.costs.rounds[i.ID()]; ok && !m.counted[i.ID()] {
		m.counted[i.ID()] = true
		return &countedRound{InterpretableV2: out, cost: cost}, nil
	}
	return out, nil
}

func (m *meterer) call(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	d := m.env.demands.of(call.Function(), call.OverloadID())
	if d == memberDemand && m.read[call.ID()] {
		d = readMemberDemand
	}
	switch {
	case d == nil:
		return nil, errors.New("nothing is declared of what " + shownName(call.Function()) + " needs")
	case !d.metered() || m.passes(call):
		return i, nil
	}
	m.charged[call.ID()] = d
	if d.pattern {
		return m.pattern(call, d)
	}
	impl := m.env.demands.implementation(call.Function(), call.OverloadID())
	return &meteredCall{InterpretableCall: call, args: call.Args(), demand: d, name: shownName(call.Function()), impl: impl}, nil
}

func (m *meterer) pattern(call interpreter.InterpretableCall, d *demand) (interpreter.InterpretableV2, error) {
	args := append([]interpreter.InterpretableV2(nil), call.Args()...)
	literal, ok := args[1].(interpreter.InterpretableConst)
	if !ok {
		return nil, errors.New("a pattern must be a literal; pattern.search takes one that is data")
	}
	text, _ := literal.Value().(types.String)
	instructions, err := programSize(string(text))
	if err != nil {
		return nil, err
	}
	args[0] = &meteredText{InterpretableV2: args[0], name: shownName(call.Function()), instructions: instructions, demand: d}
	return &patternCall{InterpretableCall: call, args: args}, nil
}

// passes reports whether a call cannot be large, by the types of its arguments:
// scalars are compared in one step, and a conversion of a literal is done when
// the program is planned.
func (m *meterer) passes(call interpreter.InterpretableCall) bool {
	args := call.Args()
	switch call.Function() {
	case operators.Equals, operators.NotEquals:
		return m.scalar(args[0], m.simple) || m.scalar(args[1], m.simple)
	case operators.In, operators.OldIn:
		return m.literal(args[1]) || m.simple && m.scalar(args[0], true)
	}
	if m.simple && (boundedInCEL[call.Function()] || m.small(call.Function())) {
		return true
	}
	return overloads.IsTypeConversionFunction(call.Function()) && m.literal(args[0])
}

// small reports whether a function is a builtin that takes little, whatever its
// arguments are, or goes through a list once.
func (m *meterer) small(function string) bool {
	own := m.env.functions[function]
	return own != nil && own.Bounded && (own.Small || own.Scans != nil)
}

func (m *meterer) literal(i interpreter.InterpretableV2) bool {
	_, ok := i.(interpreter.InterpretableConst)
	return ok
}

// scalar reports whether an argument is a scalar by its type; texts are when
// they cannot be compared many times.
func (m *meterer) scalar(i interpreter.InterpretableV2, texts bool) bool {
	if m.literal(i) {
		return true
	}
	t := m.checked.GetType(i.ID())
	switch t.Kind() {
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.TimestampKind, types.DurationKind, types.NullTypeKind:
		return true
	case types.StringKind, types.BytesKind:
		return texts
	}
	return false
}

// shownName is a function as a person writes it.
func shownName(function string) string {
	if n, ok := operators.FindReverse(function); ok && n != "" {
		return n
	}
	switch function {
	case "@sortByAssociatedKeys":
		return "sortBy"
	case "cel.@mapInsert":
		return "transformMapEntry"
	}
	return function
}
