package apiserver

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
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
