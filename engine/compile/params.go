package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// params resolves every parameter: its default, or what overrides it.
func (b *builder) params() {
	overrides := b.options.Params[b.plan.Name]
	for _, p := range b.doc.Spec.Params {
		name := p.Key.Value
		if !identifier.MatchString(name) {
			b.problems.Hintf(p.Key.Pos(), "letters, digits and _, not beginning with a digit", "%q cannot be the name of a param", name)
			continue
		}
		if p.Value.Default == nil {
			b.problems.Errorf(p.Key.Pos(), "the param %q has no default", name)
			continue
		}
		b.param(p, overrides)
	}
	known := make([]string, 0, len(b.doc.Spec.Params))
	for _, p := range b.doc.Spec.Params { // also those with another problem
		known = append(known, p.Key.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if o := overrides[name]; !slices.Contains(known, name) {
			b.problems.Hintf(o.at(b.doc.Metadata.Name.Pos()), document.DidYouMean(name, known), "the policy %s has no param %q", b.plan.Name, name)
		}
	}
}

func (b *builder) param(p v1alpha1.Entry[v1alpha1.Param], overrides map[string]Override) {
	node, at := p.Value.Default, p.Value.Default.Pos
	kind := paramKind(p.Value)
	v, err := paramValue(kind, node.Plain())
	if err == nil {
		err = withinBounds(p.Value, kind, v)
	}
	if err != nil {
		b.problems.Errorf(at, "the default of the param %q: %v", p.Key.Value, err)
		if v == nil {
			v = standIn[kind]
		}
	}
	otherwise := v
	if o, ok := overrides[p.Key.Value]; ok {
		given, err := overridden(p.Value, kind, o)
		if err != nil {
			b.problems.Errorf(o.at(p.Key.Pos()), "the value %q given for the param %s.%s: %v", o, b.plan.Name, p.Key.Value, err)
		} else {
			v = given
		}
	}
	if v == nil {
		return
	}
	b.plan.Params[p.Key.Value] = v
	n := b.graph().Part(analyze.Param, p.Key.Value, p.Key.Pos())
	n.Text = fmt.Sprint(value.Plain(v))
	b.nodes["params."+p.Key.Value] = n
	b.describe(p, kind, v, otherwise)
}

// standIn takes the place of a default that is wrong, so that where the param
// is used nothing else is found wrong.
var standIn = map[string]value.Value{
	"string": value.OfString(""), "int": value.OfInt(0), "double": value.OfDouble(0), "bool": value.OfBool(false),
	"list": value.EmptyList, "map": value.Empty, "duration": value.OfDuration(0), "selector": value.Empty,
}

// overridden reads an override.
func overridden(p v1alpha1.Param, kind string, o Override) (value.Value, error) {
	raw, err := o.raw(kind)
	if err != nil {
		return nil, err
	}
	v, err := paramValue(kind, raw)
	if err != nil {
		return nil, err
	}
	return v, withinBounds(p, kind, v)
}

// paramKind is the given type, or that of the default.
func paramKind(p v1alpha1.Param) string {
	if p.Type.Set() {
		return p.Type.Value
	}
	return map[document.Kind]string{
		document.Bool: "bool", document.Int: "int", document.Float: "double",
		document.List: "list", document.Map: "map",
	}[p.Default.Kind] + map[bool]string{true: "string"}[p.Default.Kind == document.String || p.Default.Kind == document.Null]
}

// paramValue makes a value of the wanted type.
func paramValue(kind string, raw any) (value.Value, error) {
	switch kind {
	case "duration":
		text, ok := raw.(string)
		if !ok {
			return nil, fmt.Errorf("a duration is a text such as 10m, not %v", raw)
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("not a duration such as 10m: %q", text)
		}
		return value.OfDuration(d), nil
	case "selector":
		v := value.Freeze(raw, nil, value.KeepAll)
		if _, err := selector.Parse(v); err != nil {
			return nil, err
		}
		return v, nil
	}
	want, ok := paramTypes[kind]
	if !ok {
		return nil, fmt.Errorf("unknown type %q (string, int, double, bool, duration, list, map or selector)", kind)
	}
	if i, isInt := raw.(int64); isInt && kind == "double" {
		raw = float64(i)
	}
	if !want(raw) {
		return nil, fmt.Errorf("not of type %s: %v", kind, raw)
	}
	if f, isFloat := raw.(float64); isFloat {
		return value.OfDouble(f), nil
	}
	return value.Freeze(raw, nil, value.KeepAll), nil
}

var paramTypes = map[string]func(any) bool{
	"string": func(v any) bool { _, ok := v.(string); return ok },
	"int":    func(v any) bool { _, ok := v.(int64); return ok },
	"double": func(v any) bool { _, ok := v.(float64); return ok },
	"bool":   func(v any) bool { _, ok := v.(bool); return ok },
	"list":   func(v any) bool { _, ok := v.([]any); return ok },
	"map":    func(v any) bool { _, ok := v.(map[string]any); return ok },
}

// withinBounds checks minimum, maximum, minLength and enums.
func withinBounds(p v1alpha1.Param, kind string, v value.Value) error {
	for _, bound := range []struct {
		name string
		node *document.Node
		// beyond is the order of a value that is out of it.
		beyond int
	}{{"minimum", p.Minimum, -1}, {"maximum", p.Maximum, 1}} {
		if bound.node == nil {
			continue
		}
		limit, err := paramValue(kind, bound.node.Plain())
		if err != nil {
			return fmt.Errorf("%s: %w", bound.name, err)
		}
		if order, ok := value.Compare(v, limit); !ok || order == bound.beyond {
			return fmt.Errorf("the %s is %s", bound.name, bound.node.Text)
		}
	}
	if p.MinLength != nil {
		if least, ok := p.MinLength.Plain().(int64); ok && int64(value.Size(v)) < least {
			return fmt.Errorf("it must have a length of at least %d", least)
		}
	}
	return withinEnums(p, v)
}

func withinEnums(p v1alpha1.Param, v value.Value) error {
	if err := oneOf(p.Enum, v); err != nil {
		return err
	}
	if list, ok := v.(*value.List); ok {
		for _, item := range list.Items() {
			if err := oneOf(p.Items.Enum, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func oneOf(enum *document.Node, v value.Value) error {
	if enum == nil {
		return nil
	}
	var names []string
	for _, n := range enum.Values {
		if value.Same(value.Freeze(n.Plain(), nil, value.KeepAll), v) {
			return nil
		}
		names = append(names, n.Text)
	}
	return fmt.Errorf("%v is not one of %s", value.Plain(v), strings.Join(names, ", "))
}

// paramVars declares the params with the types of their values.
func (b *builder) paramVars() []cel.Var {
	var out []cel.Var
	for _, p := range b.doc.Spec.Params {
		if v, ok := b.plan.Params[p.Key.Value]; ok {
			out = append(out, cel.Var{Name: "params." + p.Key.Value, Type: paramType(paramKind(p.Value), v)})
		}
	}
	return out
}

func paramType(kind string, v value.Value) *cel.Type {
	switch kind {
	case "string":
		return cel.StringType
	case "int":
		return cel.IntType
	case "double":
		return cel.DoubleType
	case "bool":
		return cel.BoolType
	case "duration":
		return cel.DurationType
	case "list":
		list := v.(*value.List)
		if list.Len() == len(value.Strings(list)) {
			return cel.ListOf(cel.StringType)
		}
		return cel.ListOf(cel.DynType)
	case "map":
		return cel.MapOf(cel.DynType)
	default:
		return cel.DynType
	}
}
