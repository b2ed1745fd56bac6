package reconcile

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// controllers are those of a group, by the IDs of their policies. They are safe for
// concurrent use.
type controllers struct {
	mu   sync.RWMutex
	list []*Controller
}

// all returns the controllers in a slice that must not be changed.
func (cs *controllers) all() []*Controller {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	return cs.list
}

func (cs *controllers) add(c *Controller) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.list = append(slices.Clone(cs.list), c) // all may be in use
	slices.SortStableFunc(cs.list, func(a, b *Controller) int { return cmp.Compare(a.Policy.ID(), b.Policy.ID()) })
}

func (cs *controllers) remove(c *Controller) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.list = slices.DeleteFunc(slices.Clone(cs.list), func(other *Controller) bool { return other == c })
}

// find returns the controller in force by the ID of its policy, or nil.
func (cs *controllers) find(id string) *Controller {
	for _, c := range cs.all() {
		if c.InForce() && c.Policy.ID() == id {
			return c
		}
	}
	return nil
}

// shadowsOf returns the active controllers that are compared with a policy.
func (cs *controllers) shadowsOf(id string) iter.Seq[*Controller] {
	return func(yield func(*Controller) bool) {
		for _, c := range cs.all() {
			if c.shadow != nil && c.Policy.ShadowOf != "" && c.Policy.Owner() == id && c.InForce() && !yield(c) {
				return
			}
		}
	}
}

// sources returns every source that one of them reads, each once.
func (cs *controllers) sources() (out []world.Source) {
	for _, c := range cs.all() {
		for _, source := range c.Sources() {
			if !slices.Contains(out, source) {
				out = append(out, source)
			}
		}
	}
	return out
}

// need returns what they need of a source together; nil is nothing.
func (cs *controllers) need(source world.Source) (out *readmodel.Requirement) {
	for _, c := range cs.all() {
		for _, need := range c.reads.needs {
			if need.Source != source {
				continue
			}
			if out == nil {
				out = &readmodel.Requirement{Source: source, Indexes: map[string]world.IndexFunc{}}
			}
			out.Mask = value.Merge(out.Mask, need.Mask)
			maps.Copy(out.Indexes, need.Indexes)
		}
	}
	return out
}
