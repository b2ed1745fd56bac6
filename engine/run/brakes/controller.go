// Package brakes keeps the state of the brakes of engine/brake in the cluster: pauses
// outlive the process, and people hold and resume policies.
package brakes

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
)

const (
	// brakesInterval is the interval between looks at the brakes: holds end by
	// themselves, and stale objects become up to date.
	brakesInterval = time.Second
	// recordInterval is the interval between updates of examples of suspended writes.
	recordInterval = 5 * time.Second
)

// Controller keeps the brakes: it applies holds and resumptions, stores pauses, and
// reports what the brakes do.
type Controller struct {
	brakes  *brake.Brakes
	options Options
	wakes   chan struct{}
	// recorded is when records were last written that have no new pause.
	recorded time.Time
	// resumed are the resumptions that were done, by policy, while the store still
	// has them.
	resumed map[string]brake.Resumption
	paused  map[string]int
	gauges  observe.Gauges
	// paced are the keys that are reported, one of each policy.
	paced map[string]*brake.Paced

	mu sync.Mutex
	// news becomes Events; states is what was last found.
	news   []brake.News
	states map[string]*brake.State
}

// Options are what a Controller needs.
type Options struct {
	// Settings are the limits; nil is the default.
	Settings *brake.Settings
	// Store has pauses and holds; nil keeps them in memory.
	Store *Store
	Log   *slog.Logger
	// Wake adds keys to the work queue of a policy.
	Wake func(policy string, keys []eval.Key)
	// Controllers returns the controllers of all policies.
	Controllers func() []*reconcile.Controller
	// Stale reports whether what a policy reads may be out of date.
	Stale func(c *reconcile.Controller) bool
	// Manager returns another field manager of the fields that a policy writes, or "" if
	// it finds none.
	Manager func(ctx context.Context, policy string, effects []*eval.Effect) string
	// Changed is called after the brakes did something.
	Changed func()
}

// New returns a Controller that does not run yet.
func New(o Options) *Controller {
	c := &Controller{options: o, wakes: make(chan struct{}, 1), resumed: map[string]brake.Resumption{}, paused: map[string]int{}, paced: map[string]*brake.Paced{}, states: map[string]*brake.State{}}
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

// Start reads what another leader stored, and then follows it until the context ends.
// It reports whether that could be read. Background runs a function in the background.
func (c *Controller) Start(ctx context.Context, background func(func())) bool {
	if c.options.Store != nil {
		if !cache.WaitForCacheSync(ctx.Done(), c.options.Store.synced) {
			return false
		}
		stored := c.options.Store.view()
		for policy, r := range stored.records() {
			if r.Resumed == nil {
				c.brakes.Restore(r.Pauses)
			} else {
				c.done(policy, *r.Resumed)
			}
		}
		c.brakes.SetHolds(stored.holds(), time.Now())
	}
	background(func() { c.run(ctx) })
	return true
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
	var stored *view
	if c.options.Store != nil {
		stored = c.options.Store.view()
		for _, w := range c.brakes.SetHolds(stored.holds(), now) {
			c.options.Wake(w.Policy, w.Keys)
		}
		c.resume(stored)
	}
	for _, of := range c.options.Controllers() {
		if keys := c.brakes.Uncertain(of.Policy.Name); len(keys) > 0 && !c.options.Stale(of) {
			c.options.Wake(of.Policy.Name, keys)
		}
	}
	c.report(ctx, now)
	if stored != nil {
		c.record(ctx, stored, now)
	}
}

// resume applies the resumptions in the store.
func (c *Controller) resume(stored *view) {
	records := stored.records()
	for policy, r := range records {
		if r.Resumed == nil || c.resumed[policy] == *r.Resumed {
			continue
		}
		c.done(policy, *r.Resumed)
		c.options.Wake(policy, c.brakes.Resume(policy, r.Resumed.By, r.AsOf()))
	}
	for policy := range c.resumed {
		if records[policy].Resumed == nil {
			delete(c.resumed, policy)
		}
	}
}

func (c *Controller) done(policy string, r brake.Resumption) { c.resumed[policy] = r }

// record stores what the next leader needs at once, and examples of suspended writes
// every few seconds.
func (c *Controller) record(ctx context.Context, stored *view, now time.Time) {
	records, fresh := c.brakes.Records(), now.Sub(c.recorded) >= recordInterval
	for policy, r := range records {
		fresh = fresh || len(r.Pauses) != c.paused[policy]
	}
	if !fresh && len(c.resumed) == 0 {
		return
	}
	data := map[string]string{}
	for policy := range stored.records() {
		data[policy] = "" // unless there is something to say
	}
	for policy, r := range records {
		data[policy] = r.Text()
		c.paused[policy] = len(r.Pauses)
	}
	if !stored.write(ctx, brake.RecordsName, data) {
		c.recorded = time.Time{}
		return
	}
	c.recorded = now
	c.sweep(ctx, stored, now)
}

// sweep removes holds that have ended.
func (c *Controller) sweep(ctx context.Context, stored *view, now time.Time) {
	ended := map[string]string{}
	for _, h := range stored.holds() {
		if h.Ended(now) {
			ended[h.Name] = ""
		}
	}
	if len(ended) > 0 {
		stored.write(ctx, brake.HoldsName, ended)
	}
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
	if c.options.Store != nil { // policies of files have no ConfigMap
		c.news = append(c.news, news...)
	}
	c.states = states
	c.mu.Unlock()
	if len(news) > 0 {
		c.options.Changed()
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

// TakeNews returns the news for Events since the last call.
func (c *Controller) TakeNews() []brake.News {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.news
	c.news = nil
	return out
}

// State returns what the brakes do about a policy; nil is nothing.
func (c *Controller) State(policy string) *brake.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[policy]
}
