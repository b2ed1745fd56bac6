package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/schema"
)

// unsupported returns the values in a value of a built-in kind that its type does not allow,
// which the code of kube-apiserver refuses. What is as it was, and the status of an object,
// are not looked at. An empty text is one that is left out.
func unsupported(t *schema.Type, old, v any, at *field.Path) (out field.ErrorList) {
	if t == nil || same(old, v) {
		return nil
	}
	switch v := v.(type) {
	case Object:
		before, _ := old.(Object)
		for name, inner := range v {
			if name != "status" || t.Fields["metadata"] == nil {
				out = append(out, unsupported(t.Field(name), before[name], inner, below(at, t, name))...)
				out = append(out, malformed(t, name, before[name], inner, below(at, t, name))...)
			}
		}
	case []any:
		before, _ := old.([]any)
		for i, item := range v {
			if !slices.ContainsFunc(before, func(b any) bool { return same(b, item) }) {
				out = append(out, unsupported(t.Item(), nil, item, at.Index(i))...)
			}
		}
	default:
		if err := refusal(t, v, at); err != nil {
			out = append(out, err)
		}
	}
	return out
}

func refusal(t *schema.Type, v any, at *field.Path) *field.Error {
	text, isText := v.(string)
	switch _, allowed := t.Refused(v); {
	case allowed == "" || text == "" && isText || t.Kind == schema.Time: // times are decoded
		return nil
	case isText && len(t.Enum) > 0:
		return field.NotSupported(at, text, t.Enum)
	default:
		return field.Invalid(at, v, "it must be "+allowed)
	}
}

// malformed says what is wrong with the form of a text in a field.
func malformed(t *schema.Type, name string, old, v any, at *field.Path) (out field.ErrorList) {
	text, _ := v.(string)
	if same(old, v) {
		return nil
	}
	for _, problem := range schema.Malformed(t.Name, name, text) {
		out = append(out, field.Invalid(at, text, problem))
	}
	return out
}
