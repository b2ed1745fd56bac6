package schema

// What is known of whether values of a type are stored as they are written.
const (
	unknown = iota
	verbatim
	converted
)

// Verbatim reports whether the API server stores values of the type as they are written: no
// part of one is a date-time, or a quantity, or has a default. Of what has no type it is
// taken for granted, except where the names of fields say date-times.
func (t *Type) Verbatim() bool {
	if t == nil {
		return true
	}
	known := t.stores.Load()
	if known == unknown {
		known = converted
		if !t.rewrites(map[*Type]bool{}) {
			known = verbatim
		}
		t.stores.Store(known)
	}
	return known == verbatim
}

// rewrites reports whether a part of the type that was not seen yet is stored in another
// form. A type may contain itself.
func (t *Type) rewrites(seen map[*Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if t.Kind == Time || t.Quantity || t.Guess || len(t.defaults) > 0 || t.Elem.rewrites(seen) {
		return true
	}
	for _, field := range t.Fields {
		if field.rewrites(seen) {
			return true
		}
	}
	return false
}
