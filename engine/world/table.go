package world

import (
	"slices"

	"github.com/benbjohnson/immutable"
)

// Table is one frozen version of a source's objects and indexes.
type Table struct {
	objects *immutable.Map[name, *Object]
	all     *ordered
	indexes map[string]*index
	seq     uint64
	log     *log
}

func newTable(l *log) *Table {
	return &Table{objects: immutable.NewMap[name, *Object](nameHasher{}), indexes: map[string]*index{}, log: l}
}

// Get returns an object by name, or nil.
func (t *Table) Get(namespace, name string) *Object {
	if t == nil {
		return nil
	}
	o, _ := t.objects.Get(nameOf(namespace, name))
	return o
}

// Find returns what Get does for names that are bytes.
func (t *Table) Find(namespace, name []byte) *Object {
	if t == nil {
		return nil
	}
	both := string(append(append(make([]byte, 0, 64), namespace...), name...))
	o, _ := t.objects.Get(nameOf(both[:len(namespace)], both[len(namespace):]))
	return o
}

// All returns every object, sorted by namespace and name. The slice must not be
// changed.
func (t *Table) All() []*Object {
	if t == nil {
		return nil
	}
	return t.all.all()
}

// Len returns the number of objects.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.objects.Len()
}

// Lookup returns the objects that an index has under a key, sorted by namespace
// and name. The slice must not be changed.
func (t *Table) Lookup(index, key string) []*Object {
	return t.under(index, key).all()
}

// Under reports whether an index has an object, in this version, under a key.
func (t *Table) Under(index, key string, o *Object) bool {
	return t.under(index, key).has(o)
}

// under returns the objects that an index has under a key; nil is none.
func (t *Table) under(index, key string) *ordered {
	if !t.Has(index) {
		return nil
	}
	set, _ := t.indexes[index].of(t.all.all).Get(key)
	return set
}

// Has reports whether the table has an index.
func (t *Table) Has(index string) bool { return t != nil && t.indexes[index] != nil }

// Mark names a version of a table without holding on to it.
type Mark struct {
	log *log
	seq uint64
}

// Mark returns the mark of this version.
func (t *Table) Mark() Mark {
	if t == nil {
		return Mark{}
	}
	return Mark{log: t.log, seq: t.seq}
}

// After reports whether a version is a later one of the same table than another.
func (m Mark) After(other Mark) bool { return m.log != nil && m.log == other.log && m.seq > other.seq }

// Since returns the names of the objects that changed after an earlier version
// of the same table; ok is false when that cannot be told any more.
func (t *Table) Since(earlier Mark) (changed []Change, ok bool) {
	now := t.Mark()
	switch {
	case now == earlier:
		return nil, true
	case now.log == nil || now.log != earlier.log || earlier.seq > now.seq:
		return nil, false
	}
	return t.log.between(earlier.seq, now.seq)
}

// insert returns a sorted list with one object more, or replaced.
func insert(list []*Object, o *Object) []*Object {
	at, found := slices.BinarySearchFunc(list, o, Compare)
	if found {
		out := slices.Clone(list)
		out[at] = o
		return out
	}
	out := make([]*Object, 0, len(list)+1)
	out = append(out, list[:at]...)
	out = append(out, o)
	return append(out, list[at:]...)
}

// remove returns a sorted list without an object.
func remove(list []*Object, o *Object) []*Object {
	at, found := slices.BinarySearchFunc(list, o, Compare)
	if !found {
		return list
	}
	return slices.Delete(slices.Clone(list), at, at+1)
}
