package run

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/edict-dev/edict/engine/run/policies"
	"github.com/edict-dev/edict/engine/run/shards"
)

// sharedTerm is a term of a replica that shares the work with others: it reads all that
// the policies read, and reconciles the keys of its shards.
type sharedTerm struct {
	term  *term
	leads atomic.Bool
	// turns holds an item when it has changed whether this replica leads.
	turns chan struct{}
	held  atomic.Int32
}

// newSharedTerm makes a term of a replica that shares the work with others.
func newSharedTerm(ctx context.Context, p *process, s *sharing) *sharedTerm {
	t := &sharedTerm{turns: make(chan struct{}, 1)}
	t.term = p.newTerm(context.WithoutCancel(ctx), division{owned: shards.NewOwnership(s.options.shards), leads: t.leads.Load, others: s.roster.Others, changed: s.hurry})
	t.term.leaseOf = s.leaseName
	if !t.term.follows {
		t.term.startFiles()
		return t
	}
	p.term.Store(t.term)
	t.term.runtime.Go(func() { t.takeTurns(t.term.runtime.Context()) })
	return t
}

// takeTurns runs the policies of ConfigMaps as the one that leads or as one that follows,
// until the context ends.
func (t *sharedTerm) takeTurns(ctx context.Context) {
	for ctx.Err() == nil {
		var f follower
		if t.leads.Load() {
			f = policies.New(t.term.policyOptions())
		} else {
			f = policies.NewFollower(t.term.policyOptions())
		}
		turn, end := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); t.term.follow(turn, f) }()
		select {
		case <-ctx.Done():
		case <-t.turns:
		}
		end()
		<-done
	}
}

// Acquire implements shardWork.
func (t *sharedTerm) Acquire(shard int) {
	t.term.process.decides.Store(t.held.Add(1) > 0)
	t.term.runtime.Acquire(shard)
}

// Release implements shardWork.
func (t *sharedTerm) Release(ctx context.Context, shard int) error {
	err := t.term.runtime.Release(ctx, shard)
	t.term.process.decides.Store(t.held.Add(-1) > 0)
	return err
}

// Place implements shardWork.
func (t *sharedTerm) Place(p shards.Placement) { t.term.runtime.Place(p) }

// Settled implements shardWork.
func (t *sharedTerm) Settled() bool { return t.term.runtime.Settled() }

// Gathered implements shardWork.
func (t *sharedTerm) Gathered() (shards.Placement, bool) {
	now := t.term.manager.Load()
	if now != nil {
		if _, follows := now.follower.(*policies.Follower); follows { // it is about to lead
			return nil, false
		}
	}
	if !t.term.ready() { // asked first: then the policies with steps are known, too
		return nil, false
	}
	return t.term.runtime.Gathered(), true
}

// Troubles implements shardWork. The one that leads writes its own into the status.
func (t *sharedTerm) Troubles() []shards.Trouble {
	if !t.term.follows || t.leads.Load() {
		return nil
	}
	return t.term.runtime.Troubles()
}

// InForce implements shardWork.
func (t *sharedTerm) InForce() map[string]string {
	if !t.term.follows {
		return nil
	}
	return t.term.runtime.InForce()
}

// Looked implements shardWork. The one that leads writes the history.
func (t *sharedTerm) Looked() string {
	if now := t.term.manager.Load(); now != nil {
		if f, follows := now.follower.(*policies.Follower); follows {
			return f.Looked()
		}
	}
	return ""
}

// Heard implements shardWork. The one that leads writes the status.
func (t *sharedTerm) Heard() {
	if t.leads.Load() {
		t.term.nudge()
	}
}

// Leads implements shardWork.
func (t *sharedTerm) Leads(leads bool, waited time.Duration) {
	t.term.process.noteLead(leads, waited)
	t.leads.Store(leads)
	select {
	case t.turns <- struct{}{}:
	default: // there is one already
	}
}
