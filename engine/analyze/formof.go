package analyze

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// Lack is a place where an expression takes a key from a mapping that never has it.
type Lack struct {
	At  document.Position
	Key string
	// Keys are the keys that there are.
	Keys []string
	// Asks says that the expression only asks for the key, so that it does not fail.
	Asks bool
}

// FormOf returns the form of what a program gives, and which keys it takes from mappings
// that lack them. names returns the form of a declared name.
func FormOf(p *cel.Program, names func(name string) *Form) (*Form, []Lack) {
	f := former{program: p, ast: p.Tree(), names: names}
	form := f.of(f.ast.Expr(), nil)
	return form, f.lacks
}

type former struct {
	program *cel.Program
	ast     *ast.AST
	names   func(name string) *Form
	lacks   []Lack
}

// of returns the form of an expression. It visits each part of it once.
func (f *former) of(e ast.Expr, env *locals[*Form]) *Form {
	switch e.Kind() {
	case ast.LiteralKind:
		if cel.IsNull(e) {
			return none
		}
		return nil
	case ast.IdentKind:
		return env.find(e.AsIdent(), f.names)
	case ast.SelectKind:
		s := e.AsSelect()
		return f.take(e, s.Operand(), f.of(s.Operand(), env), s.FieldName(), s.IsTestOnly())
	case ast.CallKind:
		return f.call(e, env)
	case ast.ListKind:
		return f.list(e.AsList(), env)
	case ast.MapKind:
		return f.mapping(e.AsMap(), env)
	case ast.ComprehensionKind:
		return f.loop(e.AsComprehension(), env)
	}
	return nil
}

// take returns the form of what a key of a value gives, and notes a key that is not there.
// An optional is asked: what it lacks gives none.
func (f *former) take(e, of ast.Expr, from *Form, key string, asks bool) *Form {
	form, known := from.field(key)
	if !known {
		asks = asks || cel.IsOptional(f.ast.GetType(of.ID()))
		f.lacks = append(f.lacks, Lack{At: f.program.At(e), Key: key, Keys: slices.Sorted(maps.Keys(from.keys)), Asks: asks})
	}
	return form
}

// call follows the functions that hand a value on; of what others give nothing is known.
func (f *former) call(e ast.Expr, env *locals[*Form]) *Form {
	args := cel.Children(e)
	given := make([]*Form, len(args))
	for i, arg := range args {
		given[i] = f.of(arg, env)
	}
	switch name := e.AsCall().FunctionName(); name {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		if key, ok := cel.LiteralString(args[1]); ok {
			return f.take(e, args[0], given[0], key, name != operators.Index)
		}
		return given[0].Item()
	case operators.In:
		if key, ok := cel.LiteralString(args[0]); ok {
			f.take(e, args[1], given[1], key, true)
		}
	case operators.Conditional:
		return either(given[1:]...)
	case operators.Add:
		return concatenated(given)
	case "or", "orValue":
		return either(given...)
	case "value", "optional.of", "optional.ofNonZeroValue", "distinct", "reverse", "slice", sortBy:
		return given[0]
	case "optional.none":
		return none
	case "first", "last":
		return given[0].Item()
	}
	return nil
}

// concatenated is the form of two lists, one after the other.
func concatenated(lists []*Form) *Form {
	for _, l := range lists {
		if l == nil || l.kind != list {
			return nil
		}
	}
	return either(lists...)
}

func (f *former) list(l ast.ListExpr, env *locals[*Form]) *Form {
	items := make([]*Form, l.Size())
	for i, item := range l.Elements() {
		items[i] = f.entry(item, l.IsOptional(int32(i)), env)
	}
	return ListForm(either(items...))
}

func (f *former) mapping(m ast.MapExpr, env *locals[*Form]) *Form {
	out, written := &Form{kind: mapping, keys: map[string]*Form{}}, true
	for _, e := range m.Entries() {
		entry := e.AsMapEntry()
		key, ok := cel.LiteralString(entry.Key())
		written = written && ok
		f.of(entry.Key(), env)
		out.keys[key] = f.entry(entry.Value(), entry.IsOptional(), env)
	}
	if !written {
		return nil
	}
	return out
}

// entry is the form of a part of a list or a mapping. Of an optional that is a part as it
// is, nothing is known: what it lacks gives none, and its type may be lost.
func (f *former) entry(e ast.Expr, unwrapped bool, env *locals[*Form]) *Form {
	form := f.of(e, env)
	if !unwrapped && cel.IsOptional(f.ast.GetType(e.ID())) {
		return nil
	}
	return form
}

// loop follows the loops of macros: what map and filter gather is a list of what one step
// adds to it. Of what other loops gather nothing is known.
func (f *former) loop(c ast.ComprehensionExpr, env *locals[*Form]) *Form {
	inner := f.bind(c, f.of(c.IterRange(), env), env)
	start := f.of(c.AccuInit(), env)
	if isBinding(c) {
		return f.of(c.Result(), env.with(c.AccuVar(), start))
	}
	gathers := (c.AccuVar() == parser.AccumulatorName || c.AccuVar() == parser.HiddenAccumulatorName) && start != nil && start.kind == list
	if !gathers {
		start = nil
	}
	inner = inner.with(c.AccuVar(), start)
	f.of(c.LoopCondition(), inner)
	end := f.of(c.LoopStep(), inner)
	if !gathers {
		end = nil
	}
	return f.of(c.Result(), env.with(c.AccuVar(), end))
}

// bind binds what a loop goes through: the items of a list, or the keys of a map, and in a
// loop with two names the values.
func (f *former) bind(c ast.ComprehensionExpr, over *Form, env *locals[*Form]) *locals[*Form] {
	item := over.Item()
	if c.HasIterVar2() {
		return env.with(c.IterVar(), nil).with(c.IterVar2(), item)
	}
	if over != nil && over.kind == anyKeys {
		item = nil
	}
	return env.with(c.IterVar(), item)
}

// isBinding reports whether a loop only gives a value a name, as optMap does.
func isBinding(c ast.ComprehensionExpr) bool {
	return c.IterRange().Kind() == ast.ListKind && c.IterRange().AsList().Size() == 0 && c.LoopStep().Kind() == ast.IdentKind && c.LoopStep().AsIdent() == c.AccuVar()
}
