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
	// gathered are the calls with which a loop adds an item to the list that it makes.
	gathered map[int64]bool
	// keys are calls around keys of maps.
	keys map[int64]bool
	// counted are the loops that are charged, by their conditions, charged the calls, of
	// which those that are light are charged for large arguments only.
	counted map[int64]bool
	charged map[int64]*demand
	light   map[int64]bool
}

func newMeterer(env *Env, checked *ast.AST, simple bool) *meterer {
	m := &meterer{
		env: env, checked: checked, simple: simple, costs: costs{rounds: map[int64]uint64{}},
		read: map[int64]bool{}, gathered: gathered(checked.Expr()), counted: map[int64]bool{}, charged: map[int64]*demand{}, light: map[int64]bool{}, keys: map[int64]bool{},
	}
	readLists(checked.Expr(), nil, m.read)
	return m
}

// metered reports whether something is charged, varies whether that may be so for
// arguments that are not large.
func (m *meterer) metered() bool { return len(m.counted)+len(m.charged) > 0 }

func (m *meterer) varies() bool { return len(m.counted)+len(m.charged) > len(m.light) }

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
	return &direct.Call{Overload: impl, Need: d.need, Instead: d.instead, Light: m.light[e.ID()]}
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
	switch {
	case d == memberDemand && m.read[call.ID()]:
		d = readMemberDemand
	case m.keys[call.ID()]:
		d = keyDemand
	}
	switch {
	case d == nil:
		return nil, errors.New("nothing is declared of what " + shownName(call.Function()) + " needs")
	case !d.metered() || m.passes(call):
		return i, nil
	}
	m.charged[call.ID()] = d
	name := shownName(call.Function())
	if d.pattern {
		return m.pattern(call, d)
	}
	if m.isLight(call) {
		m.light[call.ID()] = true
	}
	if m.keys[call.ID()] {
		name = "a long key"
	}
	impl := m.env.demands.implementation(call.Function(), call.OverloadID())
	return &meteredCall{InterpretableCall: call, args: call.Args(), demand: d, name: name, impl: impl}, nil
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
	case operators.Add:
		return m.gathered[call.ID()]
	case operators.Equals, operators.NotEquals:
		return m.isFixed(args[0]) || m.isFixed(args[1])
	case operators.In, operators.OldIn:
		return m.literal(args[1])
	}
	return overloads.IsTypeConversionFunction(call.Function()) && m.literal(args[0])
}

// planned returns the expression as it is to be planned: each key of a map that may be a
// long text is the argument of a call, dyn(key), which charges for it. The interpreter
// makes no call to look one up.
func (m *meterer) planned() *ast.AST {
	if !m.anyKey() {
		return m.checked
	}
	out, next, factory := ast.Copy(m.checked), ast.MaxID(m.checked), ast.NewExprFactory()
	key := func(e ast.Expr) ast.Expr {
		if !m.isKey(e) {
			return e
		}
		next++
		m.keys[next] = true
		out.ReferenceMap()[next] = ast.NewFunctionReference(overloads.ToDyn)
		return factory.NewCall(next, overloads.TypeConvertDyn, e)
	}
	ast.PostOrderVisit(out.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case isIndex(e):
			e.SetKindCase(factory.NewCall(e.ID(), e.AsCall().FunctionName(), e.AsCall().Args()[0], key(e.AsCall().Args()[1])))
		case e.Kind() == ast.MapKind:
			var all []ast.EntryExpr
			for _, entry := range e.AsMap().Entries() {
				of := entry.AsMapEntry()
				all = append(all, factory.NewMapEntry(entry.ID(), key(of.Key()), of.Value(), of.IsOptional()))
			}
			e.SetKindCase(factory.NewMap(e.ID(), all))
		}
	}))
	return out
}

// anyKey reports whether a key of a map may be a long text.
func (m *meterer) anyKey() (found bool) {
	ast.PostOrderVisit(m.checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case isIndex(e):
			found = found || m.isKey(e.AsCall().Args()[1])
		case e.Kind() == ast.MapKind:
			for _, entry := range e.AsMap().Entries() {
				found = found || m.isKey(entry.AsMapEntry().Key())
			}
		}
	}))
	return found
}

func (m *meterer) isKey(e ast.Expr) bool {
	if e.Kind() == ast.LiteralKind {
		return false
	}
	switch m.checked.GetType(e.ID()).Kind() {
	case types.StringKind, types.DynKind, types.AnyKind, types.TypeParamKind:
		return true
	}
	return false
}

func isIndex(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && (e.AsCall().FunctionName() == operators.Index || e.AsCall().FunctionName() == operators.OptIndex)
}

// isLight reports whether a call is small unless its arguments are large: what compares
// a text, and where there is no loop, what goes through its arguments once.
func (m *meterer) isLight(call interpreter.InterpretableCall) bool {
	switch args := call.Args(); call.Function() {
	case overloads.TypeConvertDyn:
		return true
	case operators.Equals, operators.NotEquals:
		return m.isText(args[0]) || m.isText(args[1])
	case operators.In, operators.OldIn:
		return m.simple && m.isText(args[0])
	}
	return m.simple && (boundedInCEL[call.Function()] || m.small(call.Function()))
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

// isFixed reports whether an argument has a fixed size by its type.
func (m *meterer) isFixed(i interpreter.InterpretableV2) bool {
	if m.literal(i) {
		return true
	}
	switch m.checked.GetType(i.ID()).Kind() {
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.TimestampKind, types.DurationKind, types.NullTypeKind:
		return true
	}
	return false
}

// isText reports whether an argument is a text by its type.
func (m *meterer) isText(i interpreter.InterpretableV2) bool {
	kind := m.checked.GetType(i.ID()).Kind()
	return kind == types.StringKind || kind == types.BytesKind
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
