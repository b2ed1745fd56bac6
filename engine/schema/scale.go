package schema

// builtinScale is the field that the subresource scale of built-in kinds sets.
const builtinScale = "spec.replicas"

// Scale returns the path of the field that the subresource scale of a kind sets, ""
// for a kind without one. Known is false for a kind of which that is not known.
func (s *Set) Scale(gvk GVK) (path string, known bool) {
	if structure, ok := s.Structure(gvk); ok && structure.Custom {
		return structure.Scale, structure.Scaled
	}
	r, builtin := builtinTable()[gvk.String()]
	if r.Scale {
		path = builtinScale
	}
	return path, builtin
}
