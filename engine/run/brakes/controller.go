// Package brakes applies the holds of PolicySets to the brakes of engine/brake, and reports what
// the brakes do.
package brakes

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
)

const (
	// brakesInterval is the interval between looks at the brakes: holds end by
	// themselves, and stale objects become up to date.
	brakesInterval = time.Second
)

// Controller applies holds and resumptions to the brakes, and reports what they do.
type Controller struct {
	brakes  *brake.Brakes
	options Options
	wakes   chan struct{}
	gauges  observe.Gauges
	// paced are the keys that are reported, one of each policy.
	paced map[string]*brake.Paced

	mu sync.Mutex
	// holds are the holds of each PolicySet.
	holds map[string][]brake.Hold
	// news becomes Events; states is what was last found.
	news   []brake.News
	states map[string]*brake.State
}

// Options are what a Controller needs.
type Options struct {
	// Settings are the limits; nil is the default.
	Settings *brake.Settings
	Log      *slog.Logger
	// Wake adds keys to the work queue of a policy.
	Wake func(policy string, keys []eval.Key)
	// Controllers returns the controllers of all policies.
	Controllers func() []*reconcile.Controller
	// Stale reports whether what a policy reads may be out of date.
	Stale func(c *reconcile.Controller) bool
	// Manager returns another field manager of the fields that a policy writes, or "" if
	// it finds none.
	Manager func(ctx context.Context, policy string, effects []*eval.Effect) string
	// Changed is called after the brakes did something about a policy.
	Changed func(policy string)
}

// New returns a Controller that does not run yet.
func New(o Options) *Controller {
	c := &Controller{options: o, wakes: make(chan struct{}, 1), paced: map[string]*brake.Paced{}, holds: map[string][]brake.Hold{}, states: map[string]*brake.State{}}
	settings := brake.DefaultSettings()
	if o.Settings != nil {
		settings = *o.Settings
	}
	c.brakes = brake.New(settings, c.Nudge)
	return c
}

// Brakes returns the brakes.
func (c *Controller) Brakes() *brake.Brakes { return c.brakes }

// Nudge has the brakes looked at soon.
func (c *Controller) Nudge() {
	select {
	case c.wakes <- struct{}{}:
	default: // there is one already
	}
}

// SetHolds takes the holds of a PolicySet.
func (c *Controller) SetHolds(set string, holds []brake.Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Equal(c.holds[set], holds) {
		return
	}
	c.holds[set] = holds
	c.Nudge()
}

// Resume ends the pauses of a policy that are not newer than an instant.
func (c *Controller) Resume(policy, by string, asOf time.Time) {
	c.options.Wake(policy, c.brakes.Resume(policy, by, asOf))
}

// Start applies holds and reports until the context ends. Background runs a function in the
// background.
func (c *Controller) Start(ctx context.Context, background func(func())) {
	background(func() { c.run(ctx) })
}

func (c *Controller) run(ctx context.Context) {
	tick := time.NewTicker(brakesInterval)
	defer tick.Stop()
	for {
		c.look(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-c.wakes:
		case <-tick.C:
		}
	}
}

// look does all that is due.
func (c *Controller) look(ctx context.Context, now time.Time) {
	c.mu.Lock()
	holds := slices.Concat(slices.Collect(maps.Values(c.holds))...)
	c.mu.Unlock()
	for _, w := range c.brakes.SetHolds(holds, now) {
		c.options.Wake(w.Policy, w.Keys)
	}
	for _, of := range c.options.Controllers() {
		if keys := c.brakes.Uncertain(of.Policy.ID()); len(keys) > 0 && !c.options.Stale(of) {
			c.options.Wake(of.Policy.ID(), keys)
		}
	}
	c.report(ctx, now)
}

// report logs news, keeps them for the Events, and sets the metrics.
func (c *Controller) report(ctx context.Context, now time.Time) {
	states := c.brakes.States(now)
	news := append(c.brakes.News(), c.reportPaced(ctx, states)...)
	for i := range news {
		n := &news[i]
		c.nameWriter(ctx, n)
		c.options.Log.Warn(n.Text, observe.LogPolicy, n.Policy, "brake", string(n.Kind))
	}
	c.gauges.Set(seriesOf(states))
	c.mu.Lock()
	c.news, c.states = append(c.news, news...), states
	c.mu.Unlock()
	for i := range news {
		c.options.Changed(news[i].Policy)
	}
}

// nameWriter adds the other manager of the fields that the paused policy writes.
func (c *Controller) nameWriter(ctx context.Context, n *brake.News) {
	if n.Effect != nil {
		n.Text += brake.AlsoWrites(c.options.Manager(ctx, n.Policy, []*eval.Effect{n.Effect}))
	}
}

// reportPaced completes the first key of each policy that has been at its pace for long,
// and returns news of those policies that are new. Who else writes is looked for until
// it is found: between two writes of the policy the field may be its own.
func (c *Controller) reportPaced(ctx context.Context, states map[string]*brake.State) (news []brake.News) {
	for policy, s := range states {
		if len(s.Paced) == 0 {
			delete(c.paced, policy)
			continue
		}
		first, last := &s.Paced[0], c.paced[policy]
		if last != nil && last.Key == first.Key {
			first.Manager = last.Manager
		}
		if first.Manager == "" {
			first.Manager = c.options.Manager(ctx, policy, first.Effects)
		}
		if last == nil || last.Manager != first.Manager {
			news = append(news, brake.News{Policy: policy, Kind: brake.AtPace, Text: first.String()})
		}
		c.paced[policy] = first
	}
	return news
}

// TakeNews returns the news about policies of a set since the last call.
func (c *Controller) TakeNews(set string) (out []brake.News) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = slices.DeleteFunc(c.news, func(n brake.News) bool {
		of, _ := identity.ParsePolicyID(n.Policy)
		if of == set {
			out = append(out, n)
		}
		return of == set
	})
	return out
}

// State returns what the brakes do about a policy; nil is nothing.
func (c *Controller) State(policy string) *brake.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[policy]
}
