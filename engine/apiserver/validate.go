package apiserver

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/edict-dev/edict/engine/schema"
)

// valid refuses an object with metadata that no kind may have, or that its kind does not
// allow; old is nil for a creation.
func (s *Server) valid(k kind, old, next Object, subresource string) error {
	found := append(k.violations(old, next, subresource), k.described(old, next)...)
	if k.builtin() {
		found = append(found, s.unknown(k, old, next)...)
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	return refused(ID(next), found...)
}

// violations says what the schema of a custom kind does not allow.
func (k kind) violations(old, next Object, subresource string) field.ErrorList {
	v := k.structure.Validator()
	switch {
	case v == nil:
		return nil
	case old == nil:
		return v.Create(next)
	case subresource == "status":
		return v.UpdateStatus(old, next)
	default:
		return v.Update(old, next)
	}
}

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
