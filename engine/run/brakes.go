package run

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
)

const (
	// brakesInterval is how often the brakes are looked at: holds end by
	// themselves, and what may be out of date is up to date again.
	brakesInterval = time.Second
	// recordInterval is how often examples of what is kept back are written down.
	recordInterval = 5 * time.Second
)

// brakes keeps the brakes of a term: it takes what people hold and resume, writes
// pauses down, and reports what the brakes do.
type brakes struct {
	*term
	*brake.Brakes
	wakes chan struct{}
	// recorded is when records were last written that have no new pause.
	recorded time.Time
	// resumed are the wishes that were done, by policy, while the ledger still
	// shows them.
	resumed map[string]brake.Resumption
	paused  map[string]int
	gauges  brakeGauges

	mu sync.Mutex
	// untold is what is to become Events; states is what was last found.
	untold []brake.News
	states map[string]*brake.State
}

func newBrakes(t *term) *brakes {
	b := &brakes{term: t, wakes: make(chan struct{}, 1), resumed: map[string]brake.Resumption{}, paused: map[string]int{}, states: map[string]*brake.State{}}
	settings := brake.DefaultSettings()
	if t.Options.Brakes != nil {
		settings = *t.Options.Brakes
	}
	b.Brakes = brake.New(settings, b.nudge)
	return b
}

func (b *brakes) nudge() {
	select {
	case b.wakes <- struct{}{}:
	default: // there is one already
	}
}

// start takes what was kept when another process led, and then follows it. It
// reports whether that could be read.
func (b *brakes) start(ctx context.Context) bool {
	if b.ledger != nil {
		if !cache.WaitForCacheSync(ctx.Done(), b.ledger.synced) {
			return false
		}
		for policy, r := range b.ledger.records() {
			if r.Resumed == nil {
				b.Restore(r.Pauses)
			} else {
				b.done(policy, *r.Resumed)
			}
		}
		b.SetHolds(b.ledger.holds(), time.Now())
	}
	b.term.wg.Go(func() { b.run(ctx) })
	return true
}

func (b *brakes) run(ctx context.Context) {
	tick := time.NewTicker(brakesInterval)
	defer tick.Stop()
	for {
		b.look(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-b.wakes:
		case <-tick.C:
		}
	}
}

// look does all that is due.
func (b *brakes) look(ctx context.Context, now time.Time) {
	if b.ledger != nil {
		for _, w := range b.SetHolds(b.ledger.holds(), now) {
			b.wakeKeys(w.Policy, w.Keys)
		}
		b.resume()
	}
	for _, c := range b.group.Controllers() {
		if keys := b.Uncertain(c.Policy.Name); len(keys) > 0 && !b.feeds.suspect(c) {
			b.wakeKeys(c.Policy.Name, keys)
		}
	}
	b.report(now)
	if b.ledger != nil {
		b.record(ctx, now)
	}
}

// resume lets policies go on that a person has resumed.
func (b *brakes) resume() {
	records := b.ledger.records()
	for policy, r := range records {
		if r.Resumed == nil || b.resumed[policy] == *r.Resumed {
			continue
		}
		b.done(policy, *r.Resumed)
		b.wakeKeys(policy, b.Resume(policy, r.Resumed.By, r.AsOf()))
	}
	for policy := range b.resumed {
		if records[policy].Resumed == nil {
			delete(b.resumed, policy)
		}
	}
}

func (b *brakes) done(policy string, r brake.Resumption) { b.resumed[policy] = r }

// wakeKeys has keys of a policy decided about again.
func (b *brakes) wakeKeys(policy string, keys []eval.Key) {
	b.feeds.mu.Lock()
	defer b.feeds.mu.Unlock()
	if w := b.feeds.workers[policy]; w != nil {
		w.wakeAll(keys)
	}
}

// record writes down what the next process has to know, at once, and examples of
// what is kept back every few seconds.
func (b *brakes) record(ctx context.Context, now time.Time) {
	records, fresh := b.Records(), now.Sub(b.recorded) >= recordInterval
	for policy, r := range records {
		fresh = fresh || len(r.Pauses) != b.paused[policy]
	}
	if !fresh && len(b.resumed) == 0 {
		return
	}
	data := map[string]string{}
	for policy := range b.ledger.records() {
		data[policy] = "" // unless there is something to say
	}
	for policy, r := range records {
		data[policy] = r.Text()
		b.paused[policy] = len(r.Pauses)
	}
	if !b.ledger.write(ctx, brake.RecordsName, data) {
		b.recorded = time.Time{}
		return
	}
	b.recorded = now
	b.sweep(ctx, now)
}

// sweep takes holds away that have ended.
func (b *brakes) sweep(ctx context.Context, now time.Time) {
	ended := map[string]string{}
	for _, h := range b.ledger.holds() {
		if h.Ended(now) {
			ended[h.Name] = ""
		}
	}
	if len(ended) > 0 {
		b.ledger.write(ctx, brake.HoldsName, ended)
	}
}

// report logs what is new, keeps it for the Events, and measures.
func (b *brakes) report(now time.Time) {
	news := b.News()
	for _, n := range news {
		b.Log.Warn(n.Text, observe.LogPolicy, n.Policy, "brake", string(n.Kind))
	}
	states := b.States(now)
	b.gauges.show(states)
	b.mu.Lock()
	if b.ledger != nil { // others have nowhere to tell it
		b.untold = append(b.untold, news...)
	}
	b.states = states
	b.mu.Unlock()
	if len(news) > 0 && b.term.changed != nil {
		b.term.changed()
	}
}

// take returns what is to become Events.
func (b *brakes) take() []brake.News {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.untold
	b.untold = nil
	return out
}

// state returns what the brakes do about a policy; nil is nothing.
func (b *brakes) state(policy string) *brake.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.states[policy]
}
