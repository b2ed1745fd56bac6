package watch

import (
	"context"
	"sync"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Router maps changes to keys. It is safe for concurrent use.
type Router struct {
	policy *plan.Policy
	// watched selects the objects that may be primaries.
	watched *selector.Selector

	mu sync.Mutex
	// primaries are the objects that the policy decides about.
	primaries map[eval.Key]primary
	// left are those of them that no longer match the policy's selector.
	left    map[eval.Key]bool
	inputs  []*inputRoutes
	targets []multiMap
	// single says that there are inputs of one object; readings are what decisions
	// read of these, by how far they got, made of what each rule reads.
	single   bool
	readings map[eval.Progress][]*value.Mask
	byRule   *eval.Readings
}

// inputRoutes are how keys are found for one input.
type inputRoutes struct {
	// probes finds keys by the index keys of their members; of keeps each
	// key's own.
	probes multiMap
	of     map[eval.Key][]string
	// entries finds keys by the entries that they looked up; whole are those
	// that read all of it.
	entries multiMap
	whole   byNamespace
	// atTimes are the keys that find other members at other times.
	atTimes byNamespace
	// reads are what the last decisions read of an input of one object. A key
	// without any is woken by all that the policy reads.
	reads map[eval.Key]*value.Mask
}

// primary is an object with the set of its key alone.
type primary struct {
	object *world.Object
	only   *keySet
}

// only returns the set of a key alone: that of its primary, which all texts share.
func (r *Router) only(key eval.Key) *keySet {
	if p, ok := r.primaries[key]; ok {
		return p.only
	}
	return &keySet{one: key}
}

// NewRouter makes the router of a policy, of which only the primary objects that watched
// selects are decided about.
func NewRouter(p *plan.Policy, watched *selector.Selector) *Router {
	r := &Router{policy: p, watched: watched, primaries: map[eval.Key]primary{}, left: map[eval.Key]bool{}, readings: map[eval.Progress][]*value.Mask{}}
	for _, in := range p.Inputs {
		r.single = r.single || in.Shape == plan.One
		r.inputs = append(r.inputs, &inputRoutes{probes: multiMap{}, of: map[eval.Key][]string{}, entries: multiMap{}, whole: byNamespace{}, atTimes: byNamespace{}, reads: map[eval.Key]*value.Mask{}})
	}
	r.byRule = eval.NewReadings(p, func(in *plan.Input) bool { return in.Shape == plan.One })
	for range p.Targets {
		r.targets = append(r.targets, multiMap{})
	}
	return r
}

// Change returns the keys to evaluate after an object of a source changed: old
// is nil when it is new, now when it is gone. The keys are sorted.
func (r *Router) Change(ctx context.Context, source world.Source, old, now *world.Object) []eval.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := change{router: r, ctx: ctx, old: old, now: now, wake: map[eval.Key]bool{}, same: map[*value.Mask]bool{}}
	if source == r.policy.Primary.Source {
		c.primary()
	}
	for i, in := range r.policy.Inputs {
		if in.Source == source && !in.Off {
			c.input(i, in)
		}
	}
	for i, t := range r.policy.Targets {
		if t.Source == source {
			c.target(i, t)
		}
	}
	return sorted(c.wake)
}

// Looked records what the evaluation of a key began or ceased to read.
func (r *Router) Looked(key eval.Key, lookups []eval.Lookup) {
	if len(lookups) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expect(lookups)
	only := r.only(key)
	for _, l := range lookups {
		switch {
		case l.Target && l.Ended:
			r.targets[l.Input].remove(l.Key, key)
		case l.Target:
			r.targets[l.Input].add(l.Key, only)
		case l.Whole && l.Ended:
			r.inputs[l.Input].whole.remove(key)
		case l.Whole:
			r.inputs[l.Input].whole.add(key)
		case l.Ended:
			r.inputs[l.Input].entries.remove(l.Key, key)
		default:
			r.inputs[l.Input].entries.add(l.Key, only)
		}
	}
}

// manyLookups is from how many on room is made for lookups at once.
const manyLookups = 256

// expect makes room where many entries are looked up for the first time.
func (r *Router) expect(lookups []eval.Lookup) {
	if len(lookups) < manyLookups {
		return
	}
	counts := make([]int, len(r.inputs))
	for _, l := range lookups {
		if !l.Target && !l.Whole && !l.Ended {
			counts[l.Input]++
		}
	}
	for i, n := range counts {
		if routes := r.inputs[i]; n >= manyLookups && len(routes.entries) == 0 {
			routes.entries = make(multiMap, n)
		}
	}
}

// Left reports whether a key's object has left the policy's selector and is
// still decided about.
func (r *Router) Left(key eval.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left[key]
}

// Leave ends what is decided about a key whose object has left the selector.
func (r *Router) Leave(ctx context.Context, key eval.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.left[key] {
		return
	}
	delete(r.left, key)
	delete(r.primaries, key)
	c := change{router: r, ctx: ctx}
	c.probes(key, nil)
}

// Keys returns every key that has a primary, sorted.
func (r *Router) Keys() []eval.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[eval.Key]bool{}
	for key := range r.primaries {
		all[key] = true
	}
	return sorted(all)
}

// Count returns how many keys have a primary.
func (r *Router) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.primaries)
}
