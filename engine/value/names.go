package value

import "slices"

// Names are the names of the fields of objects that are made alike: an object of
// them is made without sorting the names or looking for others with the same.
type Names struct {
	shape *shape
	// place is where each name, as it was given, stands among the sorted.
	place []int
}

// NamesOf returns the names, which are distinct.
func NamesOf(names ...string) *Names {
	sorted := slices.Sorted(slices.Values(names))
	n := &Names{shape: shapeOf(sorted), place: make([]int, len(names))}
	for i, name := range names {
		n.place[i], _ = slices.BinarySearch(sorted, name)
	}
	return n
}

// Map makes an object with a value for each name, in the order in which the names
// were given.
func (n *Names) Map(values ...Value) *Map {
	if len(values) == 0 {
		return Empty
	}
	m := newMap(n.shape, len(values))
	for i, v := range values {
		m.vals[n.place[i]] = v
	}
	return m.sized()
}

// Maker makes many objects in one piece of memory, which is freed when none of them
// is used any more.
type Maker struct {
	maps []Map
	vals []Value
}

// NewMaker returns a maker of a number of objects with a number of fields each.
func NewMaker(objects, fields int) *Maker {
	return &Maker{maps: make([]Map, objects), vals: make([]Value, objects*fields)}
}

// Map is Names.Map for the next object; it has no more fields than the maker was told.
func (k *Maker) Map(n *Names, values ...Value) *Map {
	if len(values) == 0 {
		return Empty
	}
	vals := k.vals[:len(values):len(values)]
	k.vals = k.vals[len(values):]
	for i, v := range values {
		vals[n.place[i]] = v
	}
	m := &k.maps[0]
	k.maps = k.maps[1:]
	*m = Map{shape: n.shape, vals: vals, sizes: sizesOfParts(n.shape.keys, vals)}
	return m
}
