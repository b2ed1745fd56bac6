package world

import "hash/maphash"

// name is an object's name within its table.
type name struct{ namespace, name string }

func nameOf(namespace, of string) name { return name{namespace, of} }

func (o *Object) name() name { return name{o.Namespace, o.Name} }

// nameHasher implements immutable.Hasher: names are found without joining their parts.
type nameHasher struct{}

var nameSeed = maphash.MakeSeed()

// Hash implements immutable.Hasher.
func (nameHasher) Hash(n name) uint32 {
	h := maphash.String(nameSeed, n.namespace)*31 + maphash.String(nameSeed, n.name)
	return uint32(h ^ h>>32)
}

// Equal implements immutable.Hasher.
func (nameHasher) Equal(a, b name) bool { return a == b }
