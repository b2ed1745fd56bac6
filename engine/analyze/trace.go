package analyze

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// Trace returns where a program's result comes from, and what the program reads
// on the way. names returns the flow of a declared name.
func Trace(p *cel.Program, names func(name string) *Flow) (result *Flow, reads Reads) {
	t := tracer{ast: p.Tree(), names: names, reads: Reads{}, env: p.Env()}
	result = t.flow(t.ast.Expr(), nil)
	return result, t.reads
}

type tracer struct {
	ast   *ast.AST
	names func(name string) *Flow
	reads Reads
	// env knows the values of some names.
	env *cel.Env
	// values makes the flow one of values: see Derive.
	values bool
}

// locals is the list of the variables of loops, innermost first.
type locals[T any] struct {
	name string
	of   T
	next *locals[T]
}

func (l *locals[T]) with(name string, of T) *locals[T] { return &locals[T]{name, of, l} }

// find returns the entry of a variable. It calls names if no loop declares it.
func (l *locals[T]) find(name string, names func(string) T) T {
	for ; l != nil; l = l.next {
		if l.name == name {
			return l.of
		}
	}
	return names(name)
}

func (t *tracer) flow(e ast.Expr, env *locals[*Flow]) *Flow {
	switch e.Kind() {
	case ast.IdentKind:
		return env.find(e.AsIdent(), t.names)
	case ast.SelectKind:
		return t.sel(e, env)
	case ast.CallKind:
		return t.call(e, env)
	case ast.ListKind:
		var out *Flow
		for _, item := range e.AsList().Elements() {
			out = union(out, t.flow(item, env))
		}
		return ListOf(out)
	case ast.MapKind:
		return t.mapping(e, env)
	case ast.ComprehensionKind:
		return t.loop(e, env)
	default:
		return nil
	}
}

func (t *tracer) sel(e ast.Expr, env *locals[*Flow]) *Flow {
	s := e.AsSelect()
	f := t.flow(s.Operand(), env).field(s.FieldName())
	t.reads.Presence(f) // an expression fails on a field that is absent, whatever becomes of its value
	if s.IsTestOnly() {
		return nil
	}
	return f
}

func (t *tracer) mapping(e ast.Expr, env *locals[*Flow]) *Flow {
	var keys, out *Flow
	for _, entry := range e.AsMap().Entries() {
		key := t.flow(entry.AsMapEntry().Key(), env)
		t.reads.Consume(key)
		keys, out = union(keys, key), union(out, t.flow(entry.AsMapEntry().Value(), env))
	}
	if t.values {
		return MapOf(keys, out)
	}
	return ListOf(out)
}

// call follows the functions that hand a value on; all others read their
// arguments in full.
func (t *tracer) call(e ast.Expr, env *locals[*Flow]) *Flow {
	call := e.AsCall()
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		return t.index(args, env)
	case operators.Equals, operators.NotEquals:
		if cel.IsNull(args[0]) || cel.IsNull(args[1]) { // whether it is there at all
			t.reads.Presence(t.flow(args[0], env))
			t.reads.Presence(t.flow(args[1], env))
			return nil
		}
	case operators.LogicalOr, operators.LogicalAnd:
		if t.decided(call.FunctionName(), args) {
			return nil
		}
	case operators.Conditional:
		t.reads.Consume(t.flow(args[0], env))
		return union(t.flow(args[1], env), t.flow(args[2], env))
	case operators.In:
		t.membership(args, env)
		return nil
	case "size":
		t.size(args[0], env)
		return nil
	case operators.Add, "or", "orValue", "value", "dyn", "optional.of", "optional.ofNonZeroValue", "optional.unwrap",
		"unwrapOpt", "first", "last", "distinct", "reverse":
		return t.handOn(call.FunctionName(), args, env)
	case "slice", "flatten", sortBy:
		return t.arranged(call.FunctionName(), args, env)
	case "hasValue":
		t.reads.Presence(t.flow(args[0], env))
		return nil
	}
	return t.other(e, args, env)
}

// other is a function that hands nothing on, unless it looks for an item.
func (t *tracer) other(e ast.Expr, args []ast.Expr, env *locals[*Flow]) *Flow {
	switch f := t.env.Function(e.AsCall().FunctionName()); {
	case t.values && t.ast.GetType(e.ID()).Kind() == types.BoolKind: // it decides whether, not what
		return nil
	case f != nil && f.Scans != nil:
		return t.scan(f.Scans, args, env)
	case t.values:
		return t.derived(args, env)
	case f == nil:
	case f.Reads != nil:
		t.declared(f.Reads, args, env)
		return nil
	}
	for _, a := range args {
		t.reads.Consume(t.flow(a, env))
	}
	return nil
}

// declared is a builtin that declares which fields of its arguments it reads.
func (t *tracer) declared(fields [][]string, args []ast.Expr, env *locals[*Flow]) {
	for i, a := range args {
		of := t.flow(a, env)
		t.reads.Presence(of)
		for _, path := range fields[i] {
			at := of
			for name := range strings.SplitSeq(path, ".") {
				at = at.field(name)
			}
			t.reads.Consume(at)
		}
	}
}

// scan is a builtin that looks for an item of a list, by some of its fields.
func (t *tracer) scan(s *expr.Scan, args []ast.Expr, env *locals[*Flow]) *Flow {
	list := t.flow(args[0], env)
	t.reads.Presence(list)
	for _, a := range args[1:] {
		t.reads.Consume(t.flow(a, env))
	}
	item := list.Elem()
	for _, name := range s.Fields {
		t.reads.Consume(item.field(name))
	}
	if s.Returns {
		return item
	}
	return nil
}

// decided reports whether a param alone decides an or or an and: then the other
// side is never evaluated.
func (t *tracer) decided(operator string, args []ast.Expr) bool {
	return slices.ContainsFunc(args, func(a ast.Expr) bool {
		b, known := t.truth(a)
		return known && b == (operator == operators.LogicalOr)
	})
}

// truth returns a boolean that is a constant of the policy.
func (t *tracer) truth(e ast.Expr) (b, known bool) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalNot {
		b, known = t.truth(e.AsCall().Args()[0])
		return !b, known
	}
	v := t.value(e)
	if v == nil {
		return false, false
	}
	b, known = v.Value().(bool)
	return b, known
}

func (t *tracer) index(args []ast.Expr, env *locals[*Flow]) *Flow {
	from := t.flow(args[0], env)
	if key, ok := t.constant(args[1]); ok {
		f := from.field(key)
		t.reads.Presence(f)
		return f
	}
	t.reads.Consume(t.flow(args[1], env))
	if t.isMap(args[0]) {
		t.reads.keys(from)
	}
	f := from.Elem()
	t.reads.Presence(f)
	return f
}

func (t *tracer) membership(args []ast.Expr, env *locals[*Flow]) {
	t.reads.Consume(t.flow(args[0], env))
	in := t.flow(args[1], env)
	switch key, constant := t.constant(args[0]); {
	case !t.isMap(args[1]):
		t.reads.Consume(in)
	case constant:
		t.reads.Presence(in.step(step{field: key}))
	default:
		t.reads.keys(in)
	}
}

// value returns the value of a name that is a constant of the policy, else nil.
func (t *tracer) value(e ast.Expr) value.Value {
	if e.Kind() != ast.IdentKind {
		return nil
	}
	return t.env.Constant(e.AsIdent())
}

// constant returns a string that is written out or a constant of the policy.
func (t *tracer) constant(e ast.Expr) (string, bool) {
	if s, isText := value.Str(t.value(e)); isText {
		return s, true
	}
	return cel.LiteralString(e)
}

func (t *tracer) isMap(e ast.Expr) bool {
	kind := t.ast.GetType(e.ID()).Kind()
	return kind == types.MapKind
}

func (t *tracer) size(e ast.Expr, env *locals[*Flow]) {
	f := t.flow(e, env)
	switch t.ast.GetType(e.ID()).Kind() {
	case types.ListKind:
		t.reads.Presence(f)
	case types.MapKind:
		t.reads.keys(f)
	default:
		t.reads.Consume(f)
	}
}

// loop follows a comprehension: its variables are the elements of what it
// loops over, its accumulator gathers until nothing new comes in.
func (t *tracer) loop(e ast.Expr, env *locals[*Flow]) *Flow {
	c := e.AsComprehension()
	over := t.flow(c.IterRange(), env)
	inner := t.bind(c, over, env)
	accu := t.flow(c.AccuInit(), env)
	for range 3 {
		scope := inner.with(c.AccuVar(), accu)
		t.reads.Consume(t.flow(c.LoopCondition(), scope))
		accu = union(accu, t.flow(c.LoopStep(), scope))
	}
	return t.flow(c.Result(), env.with(c.AccuVar(), accu))
}

func (t *tracer) bind(c ast.ComprehensionExpr, over *Flow, env *locals[*Flow]) *locals[*Flow] {
	key, item := (*Flow)(nil), over.Elem()
	if t.values && t.isMap(c.IterRange()) {
		key = over.keys()
	}
	if t.isMap(c.IterRange()) {
		t.reads.keys(over)
	} else {
		t.reads.Presence(over)
	}
	if c.HasIterVar2() {
		return env.with(c.IterVar(), key).with(c.IterVar2(), item)
	}
	if t.isMap(c.IterRange()) {
		item = key
	} else if t.ast.GetType(c.IterRange().ID()).Kind() == types.DynKind {
		t.reads.keys(over)
	}
	return env.with(c.IterVar(), item)
}
