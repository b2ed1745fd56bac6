package cel

import (
	"context"
	"strings"

	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Template is compiled YAML with ${expression} in it. It is immutable.
type Template struct {
	at document.Position
	// One of these forms:
	constant value.Value // no expression anywhere inside
	program  *Program    // all of it is one ${expression}
	parts    []part      // a text with expressions in it
	keys     []*Template // a mapping: its keys
	values   []*Template // a mapping's values or a list's items
	kind     document.Kind
}

// part is a piece of a text: literal or an expression.
type part struct {
	literal string
	program *Program
}

// Template compiles YAML in which ${expression} stands for a value.
func (e *Env) Template(n *document.Node, problems *document.Problems) *Template {
	if n == nil {
		return nil
	}
	t := &Template{at: n.Pos, kind: n.Kind}
	switch n.Kind {
	case document.Map:
		for i, key := range n.Keys {
			t.keys = append(t.keys, e.Template(key, problems))
			t.values = append(t.values, e.Template(n.Values[i], problems))
		}
	case document.List:
		for _, item := range n.Values {
			t.values = append(t.values, e.Template(item, problems))
		}
	case document.String:
		e.text(t, n, problems)
	default:
		t.constant = value.Freeze(n.Plain(), nil, value.KeepAll)
	}
	return t.fold()
}

// fold makes a constant of a list or mapping without expressions.
func (t *Template) fold() *Template {
	if t.kind != document.Map && t.kind != document.List {
		return t
	}
	for i, v := range t.values {
		if v.constant == nil || t.kind == document.Map && t.keys[i].constant == nil {
			return t
		}
	}
	if v, err := t.build(nil, nil); err == nil {
		t.constant = v
	}
	return t
}

// text splits a string into literal pieces and expressions.
func (e *Env) text(t *Template, n *document.Node, problems *document.Problems) {
	pieces, ok := split(n.Text)
	if !ok {
		problems.Hintf(n.Pos, "$${ writes a literal ${", "a ${ has no matching }")
		t.constant = value.OfString("")
		return
	}
	literal := ""
	for _, piece := range pieces {
		if !piece.code {
			literal += piece.text
			t.parts = append(t.parts, part{literal: piece.text})
			continue
		}
		p := e.Compile(Text{Node: n, Source: piece.text, Offset: piece.offset}, problems)
		t.parts = append(t.parts, part{program: p})
	}
	if len(pieces) == 1 && pieces[0].code {
		t.program, t.parts = t.parts[0].program, nil
		if t.program == nil {
			t.constant = value.Null
			return
		}
	}
	if !hasCode(pieces) {
		t.constant, t.parts = value.OfString(literal), nil
		return
	}
	t.settle(e)
}

// settle makes a constant of a text whose expressions use constants only.
func (t *Template) settle(e *Env) {
	constant := true
	t.Walk(func(p *Program) {
		_, _, used := p.Trace(nil)
		for name := range used {
			constant = constant && e.consts[name] != nil
		}
	})
	for _, p := range t.parts {
		constant = constant && (p.program != nil || p.literal != "")
	}
	if !constant {
		return
	}
	meter := expr.NewMeter(context.Background())
	defer meter.Close()
	if v, err := t.build(constScope(e.consts), meter); err == nil && v != nil {
		t.constant = v
	}
}

// constScope resolves constants only.
type constScope map[string]value.Value

// ResolveName implements expr.Scope.
func (s constScope) ResolveName(name string) (any, bool) {
	v, ok := s[name]
	return v, ok
}

// Parent implements expr.Scope.
func (s constScope) Parent() interpreter.Activation { return nil }

// ConstScope is a scope of constants, for what is computed when a policy is
// compiled.
func ConstScope(consts map[string]value.Value) expr.Scope { return constScope(consts) }

func hasCode(pieces []piece) bool {
	for _, p := range pieces {
		if p.code {
			return true
		}
	}
	return false
}

// piece is a stretch of a template text; offset counts characters.
type piece struct {
	text   string
	code   bool
	offset int
}

// split finds the ${...} of a text. Braces and quotes inside an expression are
// followed, so that a map literal or a "}" in a string does not end it.
func split(text string) (out []piece, ok bool) {
	runes := []rune(text)
	var literal strings.Builder
	for i := 0; i < len(runes); {
		switch {
		case hasAt(runes, i, "$${"):
			literal.WriteString("${")
			i += 3
		case hasAt(runes, i, "${"):
			end := closing(runes, i+2)
			if end < 0 {
				return nil, false
			}
			if literal.Len() > 0 {
				out = append(out, piece{text: literal.String()})
				literal.Reset()
			}
			out = append(out, piece{text: string(runes[i+2 : end]), code: true, offset: i + 2})
			i = end + 1
		default:
			literal.WriteRune(runes[i])
			i++
		}
	}
	if literal.Len() > 0 || len(out) == 0 {
		out = append(out, piece{text: literal.String()})
	}
	return out, true
}

func hasAt(runes []rune, i int, want string) bool {
	return i+len(want) <= len(runes) && string(runes[i:i+len(want)]) == want
}

// closing finds the brace that ends an expression begun at i, or -1.
func closing(runes []rune, i int) int {
	depth, quote := 0, rune(0)
	for ; i < len(runes); i++ {
		switch r := runes[i]; {
		case quote != 0 && r == '\\':
			i++
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '{':
			depth++
		case r == '}' && depth == 0:
			return i
		case r == '}':
			depth--
		}
	}
	return -1
}

// Pos gives the template's place.
func (t *Template) Pos() document.Position { return t.at }

// Constant gives the value of a template without expressions, else nil.
func (t *Template) Constant() value.Value { return t.constant }

// Build evaluates the template. A nil value with a nil error means none: the
// field or item that the template stands for is to be left out.
func (t *Template) Build(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	if t.constant != nil {
		return t.constant, nil
	}
	return t.build(scope, meter)
}

func (t *Template) build(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	switch {
	case t.program != nil:
		v, err := t.program.Eval(scope, meter)
		return value.Unwrap(v), err
	case t.parts != nil:
		return t.join(scope, meter)
	case t.kind == document.List:
		return t.list(scope, meter)
	default:
		return t.mapping(scope, meter)
	}
}

func (t *Template) join(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	var out strings.Builder
	for _, p := range t.parts {
		if p.program == nil {
			out.WriteString(p.literal)
			continue
		}
		v, err := p.program.Eval(scope, meter)
		if err != nil {
			return nil, err
		}
		text, err := value.Text(v)
		if err != nil {
			return nil, p.program.fail(err)
		}
		out.WriteString(text)
	}
	return value.OfString(out.String()), nil
}

func (t *Template) list(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	items := make([]value.Value, 0, len(t.values))
	for _, item := range t.values {
		v, err := item.Build(scope, meter)
		if err != nil {
			return nil, err
		}
		if v != nil {
			items = append(items, v)
		}
	}
	return value.NewList(items), nil
}

func (t *Template) mapping(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	fields, err := t.Fields(scope, meter)
	if err != nil {
		return nil, err
	}
	out := make(map[string]value.Value, len(fields))
	for _, f := range fields {
		if f.Value != nil {
			out[f.Name] = f.Value
		}
	}
	return value.FromMap(out), nil
}

// Field is an evaluated entry of a mapping; a nil Value means none.
type Field struct {
	Name  string
	Value value.Value
}

// Fields evaluates a mapping entry by entry, keeping those that are none.
func (t *Template) Fields(scope expr.Scope, meter *expr.Meter) ([]Field, error) {
	if m, ok := t.constant.(*value.Map); ok {
		out := make([]Field, m.Len())
		for i := range out {
			out[i].Name, out[i].Value = m.At(i)
		}
		return out, nil
	}
	out := make([]Field, 0, len(t.keys))
	for i, key := range t.keys {
		name, err := key.Build(scope, meter)
		if err != nil {
			return nil, err
		}
		text, err := value.Text(name)
		if err != nil {
			return nil, &expr.Failure{At: key.at, Err: err}
		}
		v, err := t.values[i].Build(scope, meter)
		if err != nil {
			return nil, err
		}
		out = append(out, Field{Name: text, Value: v})
	}
	return out, nil
}

// Walk visits every program of the template.
func (t *Template) Walk(visit func(*Program)) {
	if t == nil {
		return
	}
	if t.program != nil {
		visit(t.program)
	}
	for _, p := range t.parts {
		if p.program != nil {
			visit(p.program)
		}
	}
	for _, k := range t.keys {
		k.Walk(visit)
	}
	for _, v := range t.values {
		v.Walk(visit)
	}
}

// ConstantKeys gives the keys of a mapping; ok is false when one is computed.
func (t *Template) ConstantKeys() (keys []string, ok bool) {
	if m, isMap := t.constant.(*value.Map); isMap {
		for i := range m.Len() {
			key, _ := m.At(i)
			keys = append(keys, key)
		}
		return keys, true
	}
	for _, k := range t.keys {
		s, isText := value.Str(k.constant)
		if !isText {
			return nil, false
		}
		keys = append(keys, s)
	}
	return keys, t.kind == document.Map
}

// At gives the template of a constant key of a mapping.
func (t *Template) At(key string) *Template {
	for i, k := range t.keys {
		if s, ok := value.Str(k.constant); ok && s == key {
			return t.values[i]
		}
	}
	return nil
}

// Fit checks the template against the type of the field that it is written
// to, as far as types are known.
func (t *Template) Fit(want *schema.Type, where string, problems *document.Problems) {
	switch {
	case want == nil || want.Kind == schema.Dyn:
	case t.program != nil:
		fitType(t.program.Type(), want, where, t, problems)
	case t.kind == document.Map && (want.Kind == schema.Object || want.Kind == schema.Map):
		t.fitFields(want, where, problems)
	case t.kind == document.List && want.Kind == schema.List:
		for _, item := range t.values {
			item.Fit(want.Item(), where+"[]", problems)
		}
	default:
		t.fitScalar(want, where, problems)
	}
}

func (t *Template) fitFields(want *schema.Type, where string, problems *document.Problems) {
	for i, k := range t.keys {
		name, ok := value.Str(k.constant)
		if !ok {
			continue
		}
		field := want.Field(name)
		if field == nil {
			problems.Hintf(k.at, document.DidYouMean(name, want.FieldNames()), "%s has no field %q", where, name)
			continue
		}
		t.values[i].Fit(field, where+"."+name, problems)
	}
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

func (t *Template) fitScalar(want *schema.Type, where string, problems *document.Problems) {
	if t.kind == document.Null {
		return
	}
	for _, kind := range fits[t.kind] {
		if kind == want.Kind {
			t.fitEnum(want, where, problems)
			return
		}
	}
	hint := ""
	if want.Kind == schema.String && t.kind != document.Map && t.kind != document.List {
		hint = "put it in quotes"
	}
	problems.Hintf(t.at, hint, "%s is %s, not %s", where, kindName(want.Kind), t.kind)
}

func (t *Template) fitEnum(want *schema.Type, where string, problems *document.Problems) {
	text, ok := value.Str(t.constant)
	if !ok || len(want.Enum) == 0 {
		return
	}
	for _, allowed := range want.Enum {
		if allowed == text {
			return
		}
	}
	problems.Hintf(t.at, "one of "+strings.Join(want.Enum, ", "), "%s cannot be %q", where, text)
}

func fitType(got *Type, want *schema.Type, where string, t *Template, problems *document.Problems) {
	got = Unwrap(got)
	if IsDyn(got) || got.Kind() == NullType.Kind() {
		return
	}
	ok := false
	switch want.Kind {
	case schema.String: // times and durations are written as texts
		ok = got.IsExactType(StringType) || got.IsExactType(TimestampType) || got.IsExactType(DurationType)
	case schema.Time:
		ok = got.IsExactType(StringType) || got.IsExactType(TimestampType)
	case schema.Int:
		ok = got.IsExactType(IntType)
	case schema.Double:
		ok = got.IsExactType(IntType) || got.IsExactType(DoubleType)
	case schema.Bool:
		ok = got.IsExactType(BoolType)
	case schema.List:
		ok = IsList(got)
	case schema.Object, schema.Map:
		ok = IsMap(got) || IsObject(got)
	default:
		ok = true
	}
	if !ok {
		problems.Errorf(t.program.Pos(), "%s is %s, but the expression gives %s", where, kindName(want.Kind), TypeName(got))
	}
}

func kindName(k schema.Kind) string {
	return [...]string{"any value", "an object", "a map", "a list", "a string", "an integer", "a number", "a boolean", "a date-time", "bytes"}[k]
}

// IsText says whether the template always gives a string.
func (t *Template) IsText() bool {
	if t.program != nil {
		return t.program.Type().IsExactType(StringType)
	}
	_, text := value.Str(t.constant)
	return text || t.parts != nil
}

// Mask says which fields a mapping names: what a merge of it touches. A
// computed key touches all of its siblings.
func (t *Template) Mask() *value.Mask {
	if t.kind != document.Map || len(t.keys) == 0 {
		return value.KeepAll
	}
	mask := &value.Mask{Fields: map[string]*value.Mask{}}
	for i, k := range t.keys {
		name, ok := value.Str(k.constant)
		if !ok {
			return value.KeepAll
		}
		mask.Fields[name] = t.values[i].Mask()
	}
	return mask
}

// Paths gives the paths of the fields that a mapping names, down to those that
// are not mappings themselves.
func (t *Template) Paths() [][]string {
	if t.kind != document.Map || len(t.keys) == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i, k := range t.keys {
		name, _ := value.Str(k.constant)
		for _, rest := range t.values[i].Paths() {
			out = append(out, append([]string{name}, rest...))
		}
	}
	return out
}

// Single gives the program of a template that is one ${expression}, else nil.
func (t *Template) Single() *Program { return t.program }
