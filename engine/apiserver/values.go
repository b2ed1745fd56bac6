package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/schema"
)

// unsupported returns the texts in a value of a built-in kind that are none of those that its
// type lists, which the code of kube-apiserver refuses. What is as it was, and the status of
// an object, are not looked at. An empty text is one that is left out.
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
			}
		}
	case []any:
		before, _ := old.([]any)
		for i, item := range v {
			if !slices.ContainsFunc(before, func(b any) bool { return same(b, item) }) {
				out = append(out, unsupported(t.Item(), nil, item, at.Index(i))...)
			}
		}
	case string:
		if v != "" && len(t.Enum) > 0 && !slices.Contains(t.Enum, v) {
			out = append(out, field.NotSupported(at, v, t.Enum))
		}
	}
	return out
}
