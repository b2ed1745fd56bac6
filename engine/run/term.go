package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

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

	// policies is the state of all policies.
	policies *lifecycle.Registry
	// behind says that the ConfigMaps have not been read yet.
	behind atomic.Bool

	mu sync.Mutex
	// runners are those of all policies, also while they stop.
	runners map[string]*runner
	wg      sync.WaitGroup
}

func (p *process) newTerm(ctx context.Context) *term {
	t := &term{process: p, store: world.NewStore(), policies: lifecycle.NewRegistry(), runners: map[string]*runner{}}
	t.policies.Illegal = func(err error) { p.Log.Error("the state of a policy is wrong", "error", err.Error()) }
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
	var revisions []*lifecycle.Revision
	for _, u := range t.bundle.Units {
		p := t.bundle.Policy(u)
		switch {
		case p == nil:
		case p.Mode == plan.Disabled:
			t.Log.Info("the policy is disabled", observe.LogPolicy, p.Name)
		default:
			revisions = append(revisions, &lifecycle.Revision{Unit: u, Plan: p})
		}
	}
	t.adoptAll(revisions)
	t.term.Store(t)
}

// adoptAll starts policies together: what all of them read is found out before
// anything is watched.
func (t *term) adoptAll(revisions []*lifecycle.Revision) {
	t.looked.Add(len(revisions))
	for _, rev := range revisions {
		t.policies.Assign(rev.Plan.ID(), rev, true)
	}
	for _, rev := range revisions {
		t.adopt(rev, sync.OnceFunc(t.looked.Done))
	}
}

// adopt makes an assigned revision run, once it can; an attempt with an older one
// ends.
func (t *term) adopt(rev *lifecycle.Revision, looked func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := rev.Plan.ID()
	r := t.runners[id]
	if r == nil || r.stopping {
		r = &runner{term: t, id: id, health: newHealth(id), cancel: func() {}, stopped: make(chan struct{}), before: r}
		t.runners[id] = r
	}
	r.cancel()
	ctx, cancel := context.WithCancel(t.watching)
	r.cancel, r.ticket = cancel, t.policies.Ticket(id)
	ticket := r.ticket
	t.wg.Go(func() { r.adopt(ctx, ticket, rev, looked) })
}

// drop stops a policy. What is under way is finished; nobody waits for that but
// who would run the policy again.
func (t *term) drop(id string) {
	t.policies.Stop(id)
	t.mu.Lock()
	r := t.runners[id]
	if r == nil || r.stopping {
		t.mu.Unlock()
		return
	}
	r.stopping = true
	t.mu.Unlock()
	t.wg.Go(func() {
		r.stop()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.runners[id] == r {
			delete(t.runners, id)
		}
	})
}

// runner returns the runner of a policy that is not told to stop, or nil.
func (t *term) runner(id string) *runner {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.runners[id]; r != nil && !r.stopping {
		return r
	}
	return nil
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

// allReady reports whether every policy has seen its first lists; one that waits
// for a kind holds nobody up.
func (t *term) allReady() bool { return t != nil && !t.behind.Load() && t.policies.Started() }
