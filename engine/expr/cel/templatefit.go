package cel

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Fit checks the template against the type of the field that it is written
// to, as far as types and constants are known.
func (t *Template) Fit(want *schema.Type, where string, problems *document.Problems) {
	if want == nil {
		return
	}
	f := fitting{t: t, problems: problems}
	f.sort(want, where)
	if f.literal() {
		f.value(t.constant, want, where)
	}
}

// fitting checks a template against the type of a field.
type fitting struct {
	t        *Template
	problems *document.Problems
}

// sort checks of which sort the value is, and what is inside of a mapping or list.
func (f fitting) sort(want *schema.Type, where string) {
	t := f.t
	switch {
	case want.Kind == schema.Dyn:
	case t.program != nil:
		t.asText = want.Kind == schema.String
		fitType(t.program.Type(), want, where, t, f.problems)
		f.choices(want, where)
	case t.kind == document.Map && (want.Kind == schema.Object || want.Kind == schema.Map):
		f.fields(want, where)
	case t.kind == document.List && want.Kind == schema.List:
		for _, item := range t.entries.values {
			item.Fit(want.Item(), where+"[]", f.problems)
		}
	default:
		f.scalar(want, where)
	}
}

func (f fitting) fields(want *schema.Type, where string) {
	for i, k := range f.t.entries.keys {
		name, ok := value.Str(k.constant)
		if !ok {
			continue
		}
		field := want.Field(name)
		if field == nil {
			f.problems.Hintf(k.at, cmp.Or(want.Without(name), ofAnother(where, name), document.DidYouMean(name, want.FieldNames())), "%s has no field %q", where, name)
			continue
		}
		f.t.entries.values[i].Fit(field, where+"."+name, f.problems)
	}
}

// ofAnother returns a hint for an author who writes the status of another object.
func ofAnother(where, name string) string {
	if where != "status" || name != "of" {
		return ""
	}
	return "status writes that of the primary object; for another: patch: {of: x, subresource: status, value: {status: {...}}}"
}

// fits says which schema types a scalar of the document can be written to.
var fits = map[document.Kind][]schema.Kind{
	document.String: {schema.String, schema.Time, schema.Bytes},
	document.Int:    {schema.Int, schema.Double},
	document.Float:  {schema.Double},
	document.Bool:   {schema.Bool},
	document.List:   {schema.List},
	document.Map:    {schema.Object, schema.Map},
}

func (f fitting) scalar(want *schema.Type, where string) {
	t := f.t
	if t.kind == document.Null || t.constant != nil && value.IsNull(t.constant) { // or an expression that does not compile
		return
	}
	if slices.Contains(fits[t.kind], want.Kind) {
		if text, long := value.Str(t.constant); long && t.kind == document.Int { // no int64 holds it
			f.problems.Hintf(t.at, "a 64-bit integer", "%s cannot be %s", where, text)
		}
		return
	}
	hint := ""
	if want.Kind == schema.String && t.kind != document.Map && t.kind != document.List {
		hint = "put it in quotes"
	}
	f.problems.Hintf(t.at, hint, "%s is %s, not %s", where, kindName(want.Kind), t.kind)
}

// literal reports whether the template is a constant whatever the params are. A rule may
// only be meant for some of their values.
func (f fitting) literal() bool {
	named := false
	f.t.Walk(func(p *Program) { named = named || len(p.Names()) > 0 })
	return f.t.constant != nil && !named
}

// choices warns of texts among which an expression chooses that the API server refuses, as
// in ready ? "Ready" : "Watiing". It is no error: the text may never be chosen, as that of
// x.orValue("") in a rule that only applies with x.
func (f fitting) choices(want *schema.Type, where string) {
	p := f.t.program
	if want.Kind != schema.String || f.literal() {
		return
	}
	for _, x := range chosen(p.checked.NativeRep().Expr()) {
		text, _ := LiteralString(x)
		if reason, allowed := want.Refused(text); reason != "" {
			f.problems.Reportf(document.RefusedChoice, p.At(x), allowed, "%s %s", where, reason)
		}
	}
}

// chosen returns the texts that are written out, and of which an expression gives one if
// it gives nothing else.
func chosen(x ast.Expr) []ast.Expr {
	if _, ok := LiteralString(x); ok {
		return []ast.Expr{x}
	}
	if x.Kind() != ast.CallKind {
		return nil
	}
	call := x.AsCall()
	switch name, args := call.FunctionName(), call.Args(); {
	case name == operators.Conditional:
		return slices.Concat(chosen(args[1]), chosen(args[2]))
	case name == "optional.of" && len(args) == 1, name == "dyn" && len(args) == 1:
		return chosen(args[0])
	case name == "orValue" && len(args) == 1:
		return slices.Concat(chosen(call.Target()), chosen(args[0]))
	}
	return nil
}

// value reports values that the API server refuses. The parts of a mapping or list
// that is written out are looked at where they stand.
func (f fitting) value(v value.Value, want *schema.Type, where string) {
	if reason, allowed := want.Refused(value.Plain(v)); reason != "" {
		f.problems.Hintf(f.t.at, allowed, "%s %s", where, reason)
		return
	}
	if f.t.program == nil {
		return
	}
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			if name, field := v.At(i); want.Field(name) != nil {
				f.value(field, want.Field(name), where+"."+name)
			}
		}
	case *value.List:
		for _, item := range v.Items() {
			f.value(item, want.Item(), where+"[]")
		}
	}
}

func fitType(got *Type, want *schema.Type, where string, t *Template, problems *document.Problems) {
	maybe := IsOptional(got)
	got = Unwrap(got)
	if IsDyn(got) || got.Kind() == NullType.Kind() {
		return
	}
	if !writable(got, want.Kind) {
		problems.Hintf(t.program.Pos(), conversion(got, want, maybe), "%s is %s, but the expression gives %s", where, kindName(want.Kind), TypeName(got))
	}
}

// conversion says how a value is made one of the wanted type, where it may be absent or
// not; "" if that is not known.
func conversion(got *Type, want *schema.Type, maybe bool) string {
	call := func(name string) string {
		if maybe {
			return "x.optMap(v, " + name + "(v))"
		}
		return name + "(x)"
	}
	switch kind := got.Kind(); {
	case want.Kind == schema.String && kind == types.BoolKind:
		return `x ? "True" : "False" chooses a text`
	case want.Kind == schema.String && (kind == types.IntKind || kind == types.DoubleKind):
		return call("string") + " makes a text of it"
	case want.Kind == schema.Int && (kind == types.StringKind || kind == types.DoubleKind):
		return call("int") + " makes a whole number of it"
	}
	return ""
}

func kindName(k schema.Kind) string {
	return [...]string{"any value", "an object", "a map", "a list", "a string", "an integer", "a number", "a boolean", "a date-time", "bytes"}[k]
}

// IsText reports whether the template always gives a string.
func (t *Template) IsText() bool {
	if t.program != nil {
		return t.program.Type().IsExactType(StringType)
	}
	_, text := value.Str(t.constant)
	return text || t.parts != nil
}

// writable reports whether a value of a type can be written to a field.
func writable(got *Type, to schema.Kind) bool {
	switch to {
	case schema.List:
		return IsList(got)
	case schema.Object, schema.Map:
		return IsMap(got) || IsObject(got)
	}
	types, known := scalarTypes[to]
	return !known || slices.ContainsFunc(types, got.IsExactType)
}

// scalarTypes are the types whose values can be written to a scalar field.
var scalarTypes = map[schema.Kind][]*Type{
	schema.String: {StringType, TimestampType, DurationType}, // times and durations are written as texts
	schema.Time:   {StringType, TimestampType},
	schema.Int:    {IntType},
	schema.Double: {IntType, DoubleType},
	schema.Bool:   {BoolType},
}
