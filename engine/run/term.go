package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// term is the time from taking the lead to losing it, in which the policies
// run. Nothing of one is left in the next: it begins with new lists.
type term struct {
	*process
	store *world.Store
	group *reconcile.Group
	feeds *feeds
	// brakes bound what the policies write.
	brakes *brakes
	// watching ends when no new work is to be taken up. Work under way goes on
	// until working ends.
	watching, working context.Context
	unwatch, unwork   context.CancelFunc

	// looked is done when every policy of the start has once looked for its
	// kinds.
	looked sync.WaitGroup
	// changed is called when something is to be told about a policy; may be nil.
	changed func()
	// granted are permissions that this process was found to have.
	granted granted

	mu      sync.Mutex
	runners map[string]*runner
	// stopping are the last runners of policies that were stopped.
	stopping map[string]*runner
	ready    map[string]bool
	// entries are the revisions that came into force and are still to be recorded.
	entries []*revision
	wg      sync.WaitGroup
}

func (p *process) newTerm(ctx context.Context) *term {
	t := &term{process: p, store: world.NewStore(), ready: map[string]bool{}, runners: map[string]*runner{}, stopping: map[string]*runner{}}
	t.watching, t.unwatch = context.WithCancel(ctx)
	t.working, t.unwork = context.WithCancel(context.WithoutCancel(ctx))
	t.group = reconcile.NewGroup(t.store, p.writer, schema.NewSet(schema.Builtin()))
	t.group.Answers = p.Answers
	t.group.Guard = p.guard
	t.feeds = newFeeds(t)
	t.feeds.wg.Go(func() { t.feeds.watchVersions(t.watching) })
	t.feeds.wg.Go(func() { t.feeds.followWatches(t.watching) })
	t.brakes = newBrakes(t)
	t.group.Brakes, t.group.Suspect = t.brakes.Brakes, t.feeds.suspect
	t.group.Delivery = &reconcile.Delivery{Start: func(route func(context.Context)) {
		t.feeds.wg.Go(func() { route(t.watching) })
	}, Woken: t.feeds.wake}
	return t
}

// start starts the policies.
func (t *term) start() {
	if t.PolicyNamespace != "" {
		t.follow()
		return
	}
	t.brakes.start(t.watching)
	var revisions []*revision
	for _, u := range t.bundle.Units {
		p := t.bundle.Policy(u)
		switch {
		case p == nil:
		case p.Mode == plan.Disabled:
			t.Log.Info("the policy is disabled", observe.LogPolicy, p.Name)
		default:
			revisions = append(revisions, &revision{unit: u, plan: p})
		}
	}
	t.adoptAll(revisions)
	t.term.Store(t)
}

// adoptAll starts policies together: what all of them read is found out before
// anything is watched.
func (t *term) adoptAll(revisions []*revision) {
	t.looked.Add(len(revisions))
	for _, rev := range revisions {
		t.setReady(rev.plan.ID(), false)
		t.adopt(rev, sync.OnceFunc(t.looked.Done))
	}
}

// adopt makes a revision run, once it can; an attempt with an older one ends.
func (t *term) adopt(rev *revision, looked func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.runners[rev.plan.ID()]
	if !ok {
		r = &runner{term: t, id: rev.plan.ID(), health: newHealth(rev.plan.ID()), cancel: func() {}, stopped: make(chan struct{}), before: t.stopping[rev.plan.ID()]}
		delete(t.stopping, r.id)
		t.runners[r.id] = r
	}
	r.cancel()
	ctx, cancel := context.WithCancel(t.watching)
	r.cancel = cancel
	t.wg.Go(func() { r.adopt(ctx, rev, looked) })
}

// drop stops a policy. What is under way is finished; nobody waits for that but
// who would run the policy again.
func (t *term) drop(id string) {
	t.mu.Lock()
	r := t.runners[id]
	delete(t.runners, id)
	delete(t.ready, id)
	if r != nil {
		t.stopping[id] = r
	}
	t.mu.Unlock()
	if r != nil {
		t.wg.Go(r.stop)
	}
}

// entered notes a revision that came into force, so that it is recorded even if
// the next edit replaces it at once.
func (t *term) entered(rev *revision) {
	if rev.catalog == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = append(t.entries, rev)
}

// takeInForce returns the revisions that came into force since the last call.
func (t *term) takeInForce() []*revision {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.entries
	t.entries = nil
	return out
}

// told returns what is to be told about a policy. One that is being stopped runs
// until it has stopped.
func (t *term) told(id string) state {
	t.mu.Lock()
	r, last := t.runners[id], t.stopping[id]
	t.mu.Unlock()
	switch {
	case r != nil:
		return r.told()
	case last != nil && !last.ended():
		return last.told()
	default:
		return state{}
	}
}

// stop ends the term: no new work, then what is under way, then what is
// debounced. An error says that it took too long.
func (t *term) stop(patience time.Duration) error {
	t.term.CompareAndSwap(t, nil)
	t.onEdit.CompareAndSwap(&t.changed, nil)
	t.unwatch()
	deadline := time.AfterFunc(patience, t.unwork)
	defer deadline.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.wg.Wait()
		t.feeds.wait()
		t.flush()
		t.unwork()
		observe.Rest()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(patience + time.Second): // what respects its context has ended by then
		return fmt.Errorf("work was still under way %v after the stop", patience)
	}
}

// flush runs what waits for its time: nobody would do so later.
func (t *term) flush() {
	for _, c := range t.group.Controllers() {
		if c.Policy.Mode == plan.Shadow {
			continue // nothing of it was to be done
		}
		results, dropped := c.Flush(t.working, time.Now())
		for _, f := range results {
			t.report(c, f.Key, f.Result)
		}
		if dropped > 0 {
			t.exports.dropped(c.Policy.Name, dropped)
			t.Log.Error("what was debounced is lost with this process", observe.LogPolicy, c.Policy.Name, "count", dropped)
		}
	}
}

func (t *term) setReady(policy string, ready bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready[policy] = ready
}

// allReady reports whether every policy has seen its first lists; one that waits
// for a kind holds nobody up.
func (t *term) allReady() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ready := range t.ready {
		if !ready {
			return false
		}
	}
	return true
}
