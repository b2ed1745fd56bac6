package shards

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// Ownership is what one replica holds. A nil Ownership holds everything.
type Ownership struct {
	spread Spread

	mu        sync.Mutex
	placement Placement
	held      map[int]*holding
	// running counts the evaluations under way, by policy.
	running map[string]int
}

// holding is a shard that is held. Running counts the evaluations of its keys.
type holding struct {
	running int
	closing bool
	idle    chan struct{}
}

// NewOwnership returns an Ownership that holds none of n shards.
func NewOwnership(n int) *Ownership {
	return &Ownership{spread: Spread(n), placement: Placement{}, held: map[int]*holding{}, running: map[string]int{}}
}

// Claim is the admission of one evaluation.
type Claim struct {
	Shard int

	own    *Ownership
	policy *plan.Policy
	key    eval.Key
}

// Shard returns the shard of a key; false while no replica may evaluate it.
func (o *Ownership) Shard(policy *plan.Policy, key eval.Key) (int, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.placement.Shard(o.spread, policy, key)
}

// Has reports whether a key belongs to a shard that is held.
func (o *Ownership) Has(policy *plan.Policy, key eval.Key) bool {
	if o == nil {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	shard, ok := o.placement.Shard(o.spread, policy, key)
	return ok && o.held[shard] != nil
}

// Begin admits an evaluation of a key if its shard is held and not about to be released.
// End must be called after it. The claim is nil for a nil Ownership.
func (o *Ownership) Begin(policy *plan.Policy, key eval.Key) (claim *Claim, end func(), ok bool) {
	if o == nil {
		return nil, func() {}, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	shard, ok := o.placement.Shard(o.spread, policy, key)
	h := o.held[shard]
	if !ok || h == nil || h.closing {
		return nil, nil, false
	}
	h.running++
	o.running[policy.Name]++
	return &Claim{Shard: shard, own: o, policy: policy, key: key}, func() { o.end(h, policy.Name) }, true
}

// Last claims a key of a shard that is about to be released: what is pending for it is
// run. False is that it is not such a key.
func (o *Ownership) Last(shard int, policy *plan.Policy, key eval.Key) (*Claim, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of, ok := o.placement.Shard(o.spread, policy, key)
	return &Claim{Shard: shard, own: o, policy: policy, key: key}, ok && of == shard && o.held[shard] != nil
}

func (o *Ownership) end(h *holding, policy string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running[policy]--; o.running[policy] == 0 {
		delete(o.running, policy)
	}
	if h.running--; h.running == 0 && h.closing {
		close(h.idle)
	}
}

// Open begins to hold a shard.
func (o *Ownership) Open(shard int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held[shard] = &holding{idle: make(chan struct{})}
}

// Drain admits no more evaluations of the keys of a shard, and waits for those under way
// or for the end of the context. The shard is held until Close.
func (o *Ownership) Drain(ctx context.Context, shard int) error {
	o.mu.Lock()
	h := o.held[shard]
	if h == nil {
		o.mu.Unlock()
		return nil
	}
	if !h.closing {
		h.closing = true
		if h.running == 0 {
			close(h.idle)
		}
	}
	o.mu.Unlock()
	select {
	case <-h.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the holding of a shard.
func (o *Ownership) Close(shard int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.held, shard)
}

// Held returns the shards that are held, in order.
func (o *Ownership) Held() []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.held))
}

// Share returns how many of the shards are held, for a policy whose keys are spread. A
// nil Ownership, and one of a policy that is not spread, has all of one.
func (o *Ownership) Share(policy string) (held, of int64) {
	if o == nil {
		return 1, 1
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.placement[policy] != "" {
		return 1, 1
	}
	return int64(len(o.held)), int64(o.spread)
}

// Placement returns the placement that was taken last.
func (o *Ownership) Placement() Placement {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.placement)
}

// Place takes a placement, and returns the policies that are placed otherwise than before.
func (o *Ownership) Place(p Placement) (changed []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for policy := range p {
		if o.placement[policy] != p[policy] {
			changed = append(changed, policy)
		}
	}
	for policy := range o.placement {
		if p[policy] == "" {
			changed = append(changed, policy)
		}
	}
	o.placement = maps.Clone(p)
	slices.Sort(changed)
	return changed
}

// Settled reports whether nothing is under way about the policies that no replica may
// evaluate by the placement that was taken last: it began by an earlier one. While a shard is
// released, something may be.
func (o *Ownership) Settled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.held {
		if h.closing {
			return false
		}
	}
	for policy := range o.running {
		if o.placement.moves(policy) {
			return false
		}
	}
	return true
}

type claimKey struct{}

// With returns a context that carries a claim to where writes are sent; a nil claim
// changes nothing.
func (c *Claim) With(ctx context.Context) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, claimKey{}, c)
}

// errNoClaim refuses writes about no key.
var errNoClaim = errors.New("internal error: a write that no evaluation of a key has asked for")

// Claimed returns the shard of the evaluation that a context belongs to. An error says
// that the shard is no longer held, or that the key belongs to another one by now.
func Claimed(ctx context.Context) (int, error) {
	c, ok := ctx.Value(claimKey{}).(*Claim)
	if !ok {
		return 0, errNoClaim
	}
	shard, ok := c.own.Shard(c.policy, c.key)
	if !ok || shard != c.Shard || !c.own.holds(shard) {
		return 0, ErrReleased
	}
	return shard, nil
}

// ErrReleased says that the shard of a key is not held any more. Whoever holds it
// evaluates the key, so it counts as canceled and not as failed.
var ErrReleased error = released{}

type released struct{}

func (released) Error() string   { return "the shard of the object is no longer held by this process" }
func (released) Is(e error) bool { return e == context.Canceled }

func (o *Ownership) holds(shard int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held[shard] != nil
}
