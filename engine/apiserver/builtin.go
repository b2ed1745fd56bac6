package apiserver

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// allowed refuses an object of a built-in kind that the code of kube-apiserver does not
// take, as far as it is known here; test/conformance compares the two. old is nil for a
// creation.
func (s *Server) allowed(k kind, old, next Object) error {
	if !k.builtin() {
		return nil
	}
	t := s.schemas.Of(k.gvk)
	found := append(unsupported(t, old, next, nil), unselected(t, old, next)...)
	if old == nil {
		found = append(found, lacking(t, next, nil)...)
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	return refused(ID(next), found...)
}
