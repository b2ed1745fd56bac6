package apiserver

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/schema"
)

// lacking returns the fields without which the code of kube-apiserver refuses a new object
// of a built-in kind.
func lacking(t *schema.Type, v any, at *field.Path) (out field.ErrorList) {
	switch v := v.(type) {
	case Object:
		for _, name := range t.FieldNames() {
			if v[name] == nil && t.Demands(name) {
				out = append(out, field.Required(below(at, t, name), ""))
			}
		}
		for name, inner := range v {
			if of := t.Field(name); of != nil {
				out = append(out, lacking(of, inner, below(at, t, name))...)
			}
		}
	case []any:
		for i, item := range v {
			if of := t.Item(); of != nil {
				out = append(out, lacking(of, item, at.Index(i))...)
			}
		}
	}
	return out
}

// below returns the path of a field, or of a value of a map.
func below(at *field.Path, t *schema.Type, name string) *field.Path {
	if t.Kind == schema.Map {
		return at.Key(name)
	}
	return at.Child(name)
}
