package run

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
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
	// watching ends when no new work is to be taken up. Work under way goes on
	// until working ends.
	watching, working context.Context
	unwatch, unwork   context.CancelFunc

	// looked is done when every policy has once looked for its kinds.
	looked sync.WaitGroup

	mu    sync.Mutex
	ready map[string]bool
	wg    sync.WaitGroup
}

func (p *process) newTerm(ctx context.Context) *term {
	t := &term{process: p, store: world.NewStore(), ready: map[string]bool{}}
	t.watching, t.unwatch = context.WithCancel(ctx)
	t.working, t.unwork = context.WithCancel(context.WithoutCancel(ctx))
	t.group = reconcile.NewGroup(t.store, p.writer, schema.NewSet(schema.Builtin()))
	t.group.Answers = p.Answers
	t.group.Guard = guard.New(p.bundle.Allowances)
	// Who wants to see everything gets the reasons as well.
	debug := p.Log.Enabled(ctx, slog.LevelDebug)
	t.group.Trace, t.group.Candidates = debug, debug
	t.feeds = newFeeds(t)
	return t
}

// start starts the policies.
func (t *term) start() {
	var starts []string
	for _, plan := range t.bundle.Policies {
		if plan.Disabled {
			t.Log.Info("the policy is disabled", observe.LogPolicy, plan.Name)
			continue
		}
		t.setReady(plan.Name, false)
		t.looked.Add(1)
		starts = append(starts, plan.Name)
	}
	t.term.Store(t)
	for _, name := range starts {
		t.wg.Go(func() { t.supervise(t.watching, t.bundle, name) })
	}
}

// stop ends the term: no new work, then what is under way, then what is
// debounced. An error says that it took too long.
func (t *term) stop(patience time.Duration) error {
	t.term.CompareAndSwap(t, nil)
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

// allReady says whether every policy has seen its first lists; one that waits
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
