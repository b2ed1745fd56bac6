package guard

import (
	"sync"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// maxHarmless is how many fields of a kind are kept: names of fields may be data, as
// those of labels are.
const maxHarmless = 1024

// harmlessFields are fields of patches that need no allowance, or have one everywhere, by kind. Most patches
// have the fields of an earlier one. It is safe for concurrent use.
type harmlessFields struct {
	mu    sync.RWMutex
	kinds map[patched]*fieldTree
}

// patched is a kind that a policy writes, and whether its objects are patched, where null removes a field. In
// a manifest that is created or applied it says nothing. theirs reports whether the
// objects may be those of others: patched, or taken over.
type patched struct {
	policy *plan.Policy
	schema.GVK
	patch, theirs bool
}

// cover reports whether all fields of a patch are known to need nothing.
func (h *harmlessFields) cover(of patched, patch value.Value) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	known := h.kinds[of]
	return known != nil && known.covers(patch)
}

// add keeps the fields of a patch that needs nothing, unless they are too many.
func (h *harmlessFields) add(of patched, tree *fieldTree) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kinds == nil {
		h.kinds = map[patched]*fieldTree{}
	}
	known := h.kinds[of]
	if known == nil {
		known = &fieldTree{}
		h.kinds[of] = known
	}
	if known.size()+tree.size() <= maxHarmless {
		known.merge(tree)
	}
}

// covers reports whether the path of every field of a patch was visited.
func (t *fieldTree) covers(v value.Value) bool {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			if !t.coversField(v.At(i)) {
				return false
			}
		}
	case *value.List:
		for _, item := range v.Items() {
			if !t.covers(item) {
				return false
			}
		}
	}
	return true
}

func (t *fieldTree) coversField(name string, v value.Value) bool {
	below := t.find(name)
	if below == nil {
		return false
	}
	f := formOf(v)
	return below.visited[f] && (f != inner || below.covers(v))
}

// size counts the fields of a tree.
func (t *fieldTree) size() int {
	n := 1
	for _, below := range t.fields {
		n += below.size()
	}
	return n
}

// merge visits what another tree has visited.
func (t *fieldTree) merge(other *fieldTree) {
	for f, visited := range other.visited {
		t.visited[f] = t.visited[f] || visited
	}
	for i, below := range other.fields {
		t.field(below.name, i).merge(below)
	}
}
