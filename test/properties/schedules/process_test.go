package schedules

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/world"
)

// item is a key of a policy.
type item struct {
	policy string
	key    eval.Key
}

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
}

// process is a controller process: its read model, its controllers and its queue.
type process struct {
	*bench
	store *world.Store
	group *reconcile.Group
	feeds []*feed
	queue map[item]bool
	// timers are the keys that are due later, retries those that failed.
	timers, retries map[item]time.Time
	failures        map[item]int
	// dead says that nothing it writes arrives any more. killAfter counts the
	// writes until then, 0 is never.
	dead      bool
	killAfter int
	// holding says that its writes stay on their way, in flight.
	holding  bool
	inFlight []func()
}

// newProcess starts a process on the world as it is.
func newProcess(b *bench) *process {
	p := &process{bench: b, store: world.NewStore(), queue: map[item]bool{}, timers: map[item]time.Time{}, retries: map[item]time.Time{}, failures: map[item]int{}}
	p.group = reconcile.NewGroup(p.store, &writer{process: p}, b.bundle.Schemas)
	p.group.Counts = func(*plan.Policy) *observe.Counts { return observe.Unseen() }
	p.group.SetGuard(b.guard)
	p.group.Brakes = brake.New(brake.Settings{}, nil)
	p.group.Suspect = p.suspect
	for _, policy := range b.bundle.Policies {
		p.group.Add(policy)
	}
	for _, source := range p.group.AllSources() {
		selector, err := labels.Parse(source.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		p.feeds = append(p.feeds, &feed{process: p, source: source, selector: selector})
	}
	for _, f := range p.feeds {
		f.relist()
	}
	for _, c := range p.group.Controllers() {
		c.MarkInitial()
		p.all(c)
	}
	return p
}

// all queues every key of a controller.
func (p *process) all(c *reconcile.Controller) {
	for _, key := range c.Keys() {
		p.queue[item{c.Policy.Name, key}] = true
	}
}

// suspect reports whether what a controller reads is in doubt.
func (p *process) suspect(c *reconcile.Controller) bool {
	return slices.ContainsFunc(p.feeds, func(f *feed) bool { return f.doubt && slices.Contains(c.Sources(), f.source) })
}

// recheck queues the keys of which a removal was kept back because of a doubt that
// is no more, as the real controller does every second.
func (p *process) recheck() {
	for _, c := range p.group.Controllers() {
		if keys := p.group.Brakes.Uncertain(c.Policy.Name); !p.suspect(c) {
			for _, key := range keys {
				p.queue[item{c.Policy.Name, key}] = true
			}
		}
	}
}

func (p *process) wake(woken []reconcile.Wake) {
	for _, w := range woken {
		p.queue[item{w.Controller.Policy.Name, w.Key}] = true
	}
}

// work reconciles the n-th key of the queue, and reports whether there was one.
func (p *process) work(ctx context.Context, n int) bool {
	if len(p.queue) == 0 || p.dead {
		return false
	}
	items := slices.SortedFunc(maps.Keys(p.queue), compareItems)
	next := items[n%len(items)]
	delete(p.queue, next)
	delete(p.timers, next)
	for _, c := range p.group.Controllers() {
		if c.Policy.Name == next.policy {
			p.settle(next, c.Reconcile(ctx, next.key, p.clock))
		}
	}
	return true
}

// The back-off of a failing key, as in the real controller.
const (
	minBackOff = 5 * time.Millisecond
	maxBackOff = time.Minute
)

// settle says when a key is looked at again.
func (p *process) settle(i item, r reconcile.Result) {
	if !r.Next.IsZero() {
		p.timers[i] = r.Next
	}
	if r.Err == nil {
		if r.Decision != nil {
			delete(p.retries, i)
			delete(p.failures, i)
		}
		return
	}
	p.retries[i] = p.clock.Add(min(maxBackOff, minBackOff<<min(p.failures[i], 20)))
	p.failures[i]++
}

// due queues what is due now.
func (p *process) due() {
	for _, times := range []map[item]time.Time{p.timers, p.retries} {
		maps.DeleteFunc(times, func(i item, at time.Time) bool {
			if at.After(p.clock) {
				return false
			}
			p.queue[i] = true
			return true
		})
	}
}

// next returns the first instant at which something is due.
func (p *process) next() (first time.Time) {
	for _, times := range []map[item]time.Time{p.timers, p.retries} {
		for _, at := range times {
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
	}
	return first
}
