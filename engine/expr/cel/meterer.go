package cel

import (
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr/direct"
)

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
