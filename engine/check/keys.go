package check

import (
	"maps"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// keys are fields of objects, each by the type that has it: one of two objects of a
// kind is not told from the other, so that what guards one guards both. A guard that
// is missed is a false alarm.
type keys map[string]bool

func (k keys) with(others ...keys) keys {
	out := maps.Clone(k)
	if out == nil {
		out = keys{}
	}
	for _, other := range others {
		maps.Copy(out, other)
	}
	return out
}

// has reports whether a key is one of them, or any key of the same map.
func (k keys) has(key string) bool {
	if k[key] {
		return true
	}
	base, _, found := strings.Cut(key, "[")
	return found && k[base+"[*]"]
}

// nothing is the key of an object that may be null, by its name.
func nothing(name string) string { return "null " + name }

// access is a place where an expression takes a part of a value.
type access struct {
	of ast.Expr
	// field is the name of the field, or a key in brackets.
	field string
	// asks says that the access does not fail where there is no such part.
	asks bool
}

// fields knows the fields that an expression takes.
type fields struct {
	program *cel.Program
	ast     *ast.AST
	// primary is the kind of object, where that is asked for.
	primary string
}

func fieldsOf(p *cel.Program) fields { return fields{program: p, ast: p.Tree()} }

func (f fields) typeOf(e ast.Expr) *cel.Type { return f.ast.GetType(e.ID()) }

// object returns the schema's type of what an expression gives; nil when that is no
// object with a schema.
func (f fields) object(e ast.Expr) *schema.Type {
	t := cel.Unwrap(f.typeOf(e))
	if !cel.IsObject(t) {
		return nil
	}
	return f.program.Env().Schema(t)
}

// accessOf returns what an expression takes; false when it is no access.
func (f fields) accessOf(e ast.Expr) (access, bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return access{of: s.Operand(), field: f.name(s.Operand(), s.FieldName()), asks: s.IsTestOnly() || cel.IsOptional(f.typeOf(s.Operand()))}, true
	case ast.CallKind:
		call := e.AsCall()
		switch name := call.FunctionName(); name {
		case operators.OptSelect, operators.OptIndex, operators.Index:
			of, key := call.Args()[0], "*"
			if text, ok := f.text(call.Args()[1]); ok {
				key = text
			}
			return access{of: of, field: f.name(of, key), asks: name != operators.Index || cel.IsOptional(f.typeOf(of))}, true
		case operators.In:
			key := "*"
			if text, ok := f.text(call.Args()[0]); ok {
				key = text
			}
			return access{of: call.Args()[1], field: "[" + key + "]", asks: true}, cel.IsMap(f.typeOf(call.Args()[1]))
		}
	}
	return access{}, false
}

// text returns a text that is written out, or is a param.
func (f fields) text(e ast.Expr) (string, bool) {
	if e.Kind() == ast.IdentKind {
		if c, ok := f.program.Env().Constant(e.AsIdent()).(types.String); ok {
			return string(c), true
		}
	}
	return cel.LiteralString(e)
}

func (f fields) name(of ast.Expr, field string) string {
	if cel.IsObject(cel.Unwrap(f.typeOf(of))) {
		return "." + field
	}
	return "[" + field + "]"
}

// key returns the key of what an access takes; "" when that is not known.
func (f fields) key(a access) string {
	if t := f.object(a.of); t != nil && !strings.HasSuffix(t.Name, "ObjectMeta") {
		return t.Name + a.field
	}
	if inner := f.keyOf(a.of); inner != "" {
		return inner + a.field
	}
	return ""
}

// keyOf returns the key of an expression; "" when it is no field of an object.
func (f fields) keyOf(e ast.Expr) string {
	if a, ok := f.accessOf(e); ok {
		return f.key(a)
	}
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && handsOn[e.AsCall().FunctionName()] {
		return f.keyOf(e.AsCall().Target())
	}
	return ""
}

// handsOn are the functions of an optional that give its value.
var handsOn = map[string]bool{"orValue": true, "value": true, "or": true}

// mayLack reports whether what an access takes may not be there, so that the access
// fails: an optional field of a schema, or a key of a map in an object.
func (f fields) mayLack(a access) bool {
	if a.asks {
		return false
	}
	if t := f.object(a.of); t != nil {
		return t.MayLack(strings.TrimPrefix(a.field, "."))
	}
	return a.field != "[*]" && cel.IsMap(f.typeOf(a.of)) && f.keyOf(a.of) != ""
}

// compared returns what an expression compares with null.
func compared(e ast.Expr) (with ast.Expr, ok bool) {
	if e.Kind() != ast.CallKind {
		return nil, false
	}
	call := e.AsCall()
	if name := call.FunctionName(); name != operators.Equals && name != operators.NotEquals {
		return nil, false
	}
	a, b := call.Args()[0], call.Args()[1]
	if cel.IsNull(a) {
		return b, true
	}
	return a, cel.IsNull(b)
}
