package check

import (
	"maps"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

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
	// bound has the fields that the names in scope read.
	bound map[string]reading
	// primary is the kind of the primary object.
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

// reading is a field that an expression reads.
type reading struct {
	// of is the schema's type of the field; nil if the expression may give something else.
	of *schema.Type
	// instead are the texts that the expression gives where there is no field.
	instead []string
}

// items is the reading of the items of a list.
func (r reading) items() reading {
	if r.of == nil {
		return reading{}
	}
	return reading{of: r.of.Elem}
}

// read returns the field that an expression gives, and nothing else but a text or an empty
// list in its place.
func (f fields) read(e ast.Expr) reading {
	if e.Kind() == ast.IdentKind {
		return f.bound[e.AsIdent()]
	}
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() {
		return f.instead(e.AsCall())
	}
	a, ok := f.accessOf(e)
	if !ok {
		return reading{}
	}
	if a.of.Kind() == ast.IdentKind && a.of.AsIdent() == analyze.ObjectRef.Name && strings.TrimPrefix(a.field, ".") == "kind" {
		return reading{of: &schema.Type{Kind: schema.String, Enum: []string{f.primary}}}
	}
	if t := f.object(a.of); t != nil {
		return reading{of: t.Fields[strings.TrimPrefix(a.field, ".")]}
	}
	return f.read(a.of).items()
}

// instead is read for a function of an optional.
func (f fields) instead(call ast.CallExpr) reading {
	switch call.FunctionName() {
	case "value":
		return f.read(call.Target())
	case "orValue":
		out, value := f.read(call.Target()), call.Args()[0]
		if text, ok := cel.LiteralString(value); ok {
			out.instead = append(out.instead, text)
			return out
		}
		if value.Kind() == ast.ListKind && value.AsList().Size() == 0 {
			return out
		}
	}
	return reading{}
}

// schemaOf returns the schema's type of a field; nil when there is none.
func (f fields) schemaOf(e ast.Expr) *schema.Type {
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && handsOn[e.AsCall().FunctionName()] {
		return f.schemaOf(e.AsCall().Target())
	}
	if t := f.object(e); t != nil {
		return t
	}
	a, ok := f.accessOf(e)
	if !ok {
		return f.read(e).of
	}
	switch of := f.schemaOf(a.of); {
	case of == nil:
		return nil
	case of.Kind == schema.Object:
		return of.Fields[strings.TrimPrefix(a.field, ".")]
	default:
		return of.Elem
	}
}

// conversions are the functions through which chain looks.
var conversions = map[string]bool{"int": true, "string": true, "double": true, "dyn": true, "duration": true, "timestamp": true}

// chain returns the name that an expression begins with and the fields that it takes,
// one after the other.
func (f fields) chain(e ast.Expr) (root string, path []string, ok bool) {
	if e.Kind() == ast.IdentKind {
		return e.AsIdent(), nil, true
	}
	if a, ok := f.accessOf(e); ok {
		root, path, ok = f.chain(a.of)
		return root, append(path, strings.Trim(a.field, ".[]")), ok
	}
	if e.Kind() != ast.CallKind {
		return "", nil, false
	}
	switch call := e.AsCall(); {
	case call.IsMemberFunction() && handsOn[call.FunctionName()]:
		return f.chain(call.Target())
	case conversions[call.FunctionName()] && len(call.Args()) == 1:
		return f.chain(call.Args()[0])
	}
	return "", nil, false
}

// walk visits the nodes of an expression. A macro is a comprehension, which declares a name
// for the items of a list or for one value.
func (f fields) walk(e ast.Expr, visit func(fields, ast.Expr)) {
	visit(f, e)
	if e.Kind() != ast.ComprehensionKind {
		for _, part := range cel.Children(e) {
			f.walk(part, visit)
		}
		return
	}
	loop, inner := e.AsComprehension(), f
	f.walk(loop.IterRange(), visit)
	f.walk(loop.AccuInit(), visit)
	inner.bound = maps.Clone(f.bound)
	inner.bound[loop.AccuVar()] = f.read(loop.AccuInit())
	item := reading{}
	if !cel.IsMap(f.typeOf(loop.IterRange())) || loop.HasIterVar2() {
		item = f.read(loop.IterRange()).items()
	}
	inner.bound[loop.IterVar()] = item
	if loop.HasIterVar2() {
		inner.bound[loop.IterVar()], inner.bound[loop.IterVar2()] = reading{}, item
	}
	for _, part := range []ast.Expr{loop.LoopCondition(), loop.LoopStep(), loop.Result()} {
		inner.walk(part, visit)
	}
}
