package apiserver

import "k8s.io/apimachinery/pkg/util/validation/field"

// unknown says what the code of kube-apiserver does not take in an object of a built-in
// kind, as far as it is known here; test/conformance compares the two.
func (s *Server) unknown(k kind, old, next Object) field.ErrorList {
	t := s.schemas.Of(k.gvk)
	found := append(unsupported(t, old, next, nil), unselected(t, old, next)...)
	if old == nil {
		found = append(found, lacking(t, next, nil)...)
	}
	return found
}
