package value

// An object or list of a few values is made in one piece of memory together with them.

// newMap returns an object of so many names, with room for their values.
func newMap(of *shape, n int) *Map {
	var m *Map
	switch {
	case n <= 1:
		one := &struct {
			Map
			room [1]Value
		}{}
		m, one.vals = &one.Map, one.room[:n]
	case n <= 2:
		two := &struct {
			Map
			room [2]Value
		}{}
		m, two.vals = &two.Map, two.room[:n]
	case n <= 4:
		four := &struct {
			Map
			room [4]Value
		}{}
		m, four.vals = &four.Map, four.room[:n]
	case n <= 6:
		six := &struct {
			Map
			room [6]Value
		}{}
		m, six.vals = &six.Map, six.room[:n]
	default:
		m = &Map{vals: make([]Value, n)}
	}
	m.shape = of
	return m
}

// sized says how large an object is whose values are known now.
func (m *Map) sized() *Map {
	m.sizes = sizesOfParts(m.shape.keys, m.vals)
	return m
}

// ListOf makes an array of items, which stay the caller's.
func ListOf(items ...Value) *List {
	l := newList(len(items))
	copy(l.items, items)
	l.sizes = sizesOfParts(nil, l.items)
	return l
}

// newList returns an array with room for so many items.
func newList(n int) *List {
	switch {
	case n <= 1:
		one := &struct {
			List
			room [1]Value
		}{}
		one.items = one.room[:n]
		return &one.List
	case n <= 2:
		two := &struct {
			List
			room [2]Value
		}{}
		two.items = two.room[:n]
		return &two.List
	case n <= 4:
		four := &struct {
			List
			room [4]Value
		}{}
		four.items = four.room[:n]
		return &four.List
	}
	return &List{items: make([]Value, n)}
}

// Field makes an object of one field.
func Field(name string, v Value) *Map {
	m := newMap(shapeOf([]string{name}), 1)
	m.vals[0] = v
	return m.sized()
}
