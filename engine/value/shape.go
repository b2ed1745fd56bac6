package value

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// shape is a sorted list of field names, shared by all objects that have
// exactly these.
type shape struct {
	keys []string
	// boxed are the same names as CEL sees them, made when first asked for.
	boxed func() []ref.Val
	// json is what stands before each value in JSON, made when first asked for.
	json atomic.Pointer[[]string]
	// table finds a name among many, once it is worth it; asked counts the searches
	// before that.
	table atomic.Pointer[map[string]int32]
	asked atomic.Int32
	// next stands behind the name among many that was found last.
	next atomic.Int32
	// other is another shape with the same place in the table of shapes.
	other *shape
}

func newShape(keys []string) *shape {
	return &shape{keys: keys, boxed: sync.OnceValue(func() []ref.Val {
		out := make([]ref.Val, len(keys))
		for i, k := range keys {
			out[i] = types.String(k)
		}
		return out
	})}
}

var noKeys = newShape(nil)

// maxShapes bounds the table of shapes: names can be chosen by whoever writes
// labels, so past this an object keeps names of its own.
const maxShapes = 1 << 16

// maxShared is the largest object that shares its names: larger ones are maps
// of data, and naming their shape would cost more than it saves.
const maxShared = 32

// shapes are those that objects share. They are found without a lock, and never go.
var shapes struct {
	add   sync.Mutex
	count int
	// first are the shapes that were added last, by a part of the hash of their names.
	first [1 << 13]atomic.Pointer[shape]
}

var shapeSeed = maphash.MakeSeed()

// ownShape returns the shape of some names, which belong to it afterwards.
func ownShape(keys []string) *shape {
	if len(keys) > maxShared {
		return newShape(keys)
	}
	return shapeOf(keys)
}

// shapeOf returns the shape of some names, which stay the caller's.
func shapeOf(keys []string) *shape {
	switch {
	case len(keys) == 0:
		return noKeys
	case len(keys) > maxShared:
		return newShape(slices.Clone(keys))
	}
	var hash uint64
	for _, k := range keys {
		hash = hash*31 + maphash.String(shapeSeed, k)
	}
	at := &shapes.first[hash%uint64(len(shapes.first))]
	if known := shapeAmong(at.Load(), keys); known != nil {
		return known
	}
	return addShape(at, keys)
}

func shapeAmong(s *shape, keys []string) *shape {
	for ; s != nil; s = s.other {
		if slices.Equal(s.keys, keys) {
			return s
		}
	}
	return nil
}

// addShape adds a shape, unless another has been faster or they are too many.
func addShape(at *atomic.Pointer[shape], keys []string) *shape {
	shapes.add.Lock()
	defer shapes.add.Unlock()
	first := at.Load()
	if known := shapeAmong(first, keys); known != nil {
		return known
	}
	s := newShape(slices.Clone(keys))
	if shapes.count < maxShapes {
		shapes.count++
		s.other = first
		at.Store(s)
	}
	return s
}
