package compile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// standIn takes the place of a default that is wrong, so that where the param
// is used nothing else is found wrong.
var standIn = map[string]value.Value{
	"string": value.OfString(""), "int": value.OfInt(0), "double": value.OfDouble(0), "bool": value.OfBool(false),
	"list": value.EmptyList, "map": value.Empty, "duration": value.OfDuration(0), "selector": value.Empty,
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

// inHours returns a hint that writes days as hours.
func inHours(text string) string {
	days, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	if err != nil || !strings.HasSuffix(text, "d") {
		return ""
	}
	return fmt.Sprintf("; there are no days: %dh", 24*days)
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
			return nil, fmt.Errorf("not a duration such as 10m: %q%s", text, inHours(text))
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

// paramType is the type of a param in expressions.
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
