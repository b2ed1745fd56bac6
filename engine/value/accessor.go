package value

// Accessor reads one field of many objects: of those that are made alike it finds
// the place once. It is for one goroutine.
type Accessor struct {
	key   string
	shape *shape
	at    int
}

// AccessorOf returns an accessor of a field.
func AccessorOf(key string) Accessor { return Accessor{key: key} }

// Of returns the field of an object, or nil.
func (a *Accessor) Of(m *Map) Value {
	if m.shape != a.shape || m.shape == nil {
		a.shape, a.at = m.shape, m.index(a.key)
	}
	if a.at < 0 {
		return nil
	}
	return m.vals[a.at]
}
