package reconcile

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// intent is what a debounce key waits for.
type intent struct {
	// key is whom to decide about when it is due.
	key     eval.Key
	pending bool
	rule    int
	due     time.Time
	// last is when the last attempt that succeeded began; attempts counts those
	// that failed since.
	last     time.Time
	attempts int
	// window is that of the rule, when it was last looked at.
	window time.Duration
	// object is the primary as it last was under this debounce key.
	object *world.Object
	// left says that the primary is decided under another debounce key by now.
	left bool
	// weight is how many bytes it was last counted with.
	weight int
}

// The retries of an intent that failed, which are its own.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// intents is the queue of what is debounced.
type intents struct {
	byName map[string]*intent
	// ofKey are the debounce keys of each key.
	ofKey map[eval.Key]map[string]bool
	// swept is when those that say nothing any more were last dropped, spared when
	// those that do not wait last let go of their objects.
	swept, spared time.Time
	// bytes is the weight of all of them.
	bytes int
}

func newIntents() intents {
	return intents{byName: map[string]*intent{}, ofKey: map[eval.Key]map[string]bool{}}
}

// of returns the intent of a debounce key, which is now that of a key.
func (q *intents) of(name string, key eval.Key) *intent {
	i, ok := q.byName[name]
	if !ok {
		i = &intent{}
		q.byName[name] = i
	} else if i.key != key {
		q.unlink(name, i.key)
	}
	i.key = key
	if q.ofKey[key] == nil {
		q.ofKey[key] = map[string]bool{}
	}
	q.ofKey[key][name] = true
	return i
}

func (q *intents) unlink(name string, key eval.Key) {
	delete(q.ofKey[key], name)
	if len(q.ofKey[key]) == 0 {
		delete(q.ofKey, key)
	}
}

// sweepEvery is how often intents are looked through for those that say nothing
// any more.
const sweepEvery = time.Minute

// sweep drops the intents that nothing waits for and whose window is over: they
// say no more than none would. With them goes the object that they were for.
func (q *intents) sweep(now time.Time) {
	if now.Sub(q.swept) < sweepEvery {
		return
	}
	q.swept = now
	for name, i := range q.byName {
		if !i.pending && !i.last.Add(i.window).After(now) {
			q.drop(name, i)
		}
	}
}

// known is what an evaluation may know of a debounce key.
func (c *Controller) known(debounce string) eval.Intent {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.intents.byName[debounce]
	if !ok {
		return eval.Intent{}
	}
	return eval.Intent{Pending: i.pending, Rule: i.rule, Due: i.due, Last: i.last}
}

// leftover is an intent that no decision about the primary as it is now would
// run: the object it was for stands in.
type leftover struct {
	debounce string
	object   *world.Object
}

// leftover returns what to decide about instead of the primary, if anything: what
// waits for a primary that is gone, or what is due under a debounce key that
// the primary has left.
func (c *Controller) leftover(key eval.Key, exists bool, now time.Time, flush bool) *leftover {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, first := "", (*intent)(nil)
	for n := range c.intents.ofKey[key] {
		i := c.intents.byName[n]
		if i.pending && (first == nil || i.due.Before(first.due) || i.due.Equal(first.due) && n < name) {
			name, first = n, i
		}
	}
	if first == nil || first.object == nil {
		return nil
	}
	if runs := first.left && (flush || !first.due.After(now)); exists && !runs {
		return nil
	}
	return &leftover{debounce: name, object: first.object}
}

// next returns when the first intent of a key is due; zero for none.
func (c *Controller) next(key eval.Key) (first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.intents.ofKey[key] {
		i := c.intents.byName[name]
		if i.pending && (first.IsZero() || i.due.Before(first)) {
			first = i.due
		}
	}
	return first
}

// settle brings the intents up to what a reconciliation did.
func (c *Controller) settle(key eval.Key, object *world.Object, left *leftover, r *Result, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(key, left, r.Decision)
	c.intents.sweep(now)
	if left != nil {
		object = nil // it stands in
	}
	for _, d := range r.Decision.Debounced {
		i := c.intents.of(d.Key, key)
		if !c.intents.hold(d.Key, i, object, now) && c.refusePutOff(d, i, r) {
			continue
		}
		i.rule, i.window, i.left = d.Rule, d.Window, false
		if d.Wanted {
			i.attempts = 0 // a new wish takes the place of one that failed
		}
		switch {
		case !d.Ran:
			if d.Wanted {
				c.counts.Debounced.Inc()
				r.PutOff = append(r.PutOff, d.Rule)
			}
			i.pending, i.due = true, d.Due
		case c.succeeded(d.Rule, r):
			*i = intent{key: key, rule: d.Rule, window: d.Window, last: now, object: i.object, weight: i.weight}
		default:
			i.pending, i.due = true, now.Add(retryAfter(i.attempts))
			i.attempts++
			c.counts.Retries.Inc()
			r.Retried = append(r.Retried, d.Rule)
		}
	}
	c.measure()
}

// leave notes what waits and was not spoken of by the decision. A leftover
// that even the object it was for does not ask for is dropped.
func (c *Controller) leave(key eval.Key, left *leftover, d *eval.Decision) {
	for name := range c.intents.ofKey[key] {
		i := c.intents.byName[name]
		if !i.pending || slices.ContainsFunc(d.Debounced, func(b eval.Debounced) bool { return b.Key == name }) {
			continue
		}
		switch {
		case left == nil:
			i.left = true
		case left.debounce == name:
			i.pending = false
			c.counts.Dropped.Inc()
		}
	}
}

func isBounded(r *plan.Rule) bool { return r.Debounce != nil && r.Debounce.MaxInFlight > 0 }

// flights counts the keys that run a rule, by its name and for all revisions of the
// policy.
type flights struct {
	mu      sync.Mutex
	running map[string]int64
}

// flight is the rules that a reconciliation runs of which only so many keys may
// run at once. It lasts until the writes are answered.
type flight struct {
	*Controller
	rules []string
}

// takeOff returns the flight of an evaluation; nil where any number of keys may run all
// rules at once.
func (c *Controller) takeOff(in *eval.Input) *flight {
	if !c.bounded {
		return nil
	}
	f := &flight{Controller: c}
	in.Begin = f.begin
	return f
}

func (f *flight) begin(rule int, atMost int64) bool {
	name := f.Policy.Rules[rule].Name
	f.flights.mu.Lock()
	defer f.flights.mu.Unlock()
	if f.flights.running[name] >= atMost {
		return false
	}
	f.flights.running[name]++
	f.rules = append(f.rules, name)
	return true
}

func (f *flight) end() {
	if f == nil {
		return
	}
	f.flights.mu.Lock()
	defer f.flights.mu.Unlock()
	for _, rule := range f.rules {
		f.flights.running[rule]--
	}
	f.rules = nil
}

func retryAfter(attempts int) time.Duration {
	if attempts > 5 {
		return lastRetry
	}
	return min(lastRetry, firstRetry<<attempts)
}

// succeeded reports whether nothing of a rule has failed.
func (c *Controller) succeeded(rule int, r *Result) bool {
	name := c.Policy.Rules[rule].Name
	for _, p := range r.Decision.Problems {
		if p.Rule == name {
			return false
		}
	}
	if slices.Contains(r.refused, rule) {
		return false
	}
	for _, o := range r.Outcomes {
		if o.Effect.Rule == rule && (o.Err != nil || o.Skipped || o.Refused != nil) {
			return false
		}
	}
	return true
}

// delayed reports whether a rule has retries of its own.
func (c *Controller) delayed(rule string) bool {
	for _, r := range c.Policy.Rules {
		if r.Name == rule {
			return r.Debounce != nil
		}
	}
	return false
}

// Labels computes the labels of a metric for a key.
func (c *Controller) Labels(ctx context.Context, key eval.Key, now time.Time, labels []plan.Label) map[string]string {
	return eval.Labels(ctx, eval.Input{
		Policy: c.Policy, Key: key, World: c.group.store.Snapshot(), Now: now, Recall: c.recall(key), Instead: c.absent(key),
	}, labels)
}

// absent is the primary of a key that has used a debounce, as it last was; nil
// while it exists.
func (c *Controller) absent(key eval.Key) *world.Object {
	if c.primary(c.group.store.Snapshot(), key) != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.intents.ofKey[key] {
		if i := c.intents.byName[name]; i.object != nil {
			return i.object
		}
	}
	return nil
}

// Pending counts what waits to be run.
func (c *Controller) Pending() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.intents.byName {
		if i.pending {
			n++
		}
	}
	return n
}

// Flush runs everything that waits, once, as the controller is about to stop.
// It returns what each key came to, and how many intents are lost.
func (c *Controller) Flush(ctx context.Context, now time.Time) (results []Flushed, dropped int) {
	for _, key := range c.waiting() {
		if ctx.Err() == nil {
			results = append(results, Flushed{Key: key, Result: c.reconcile(ctx, key, now, true)})
		}
	}
	dropped = c.Pending()
	c.counts.Dropped.Add(float64(dropped))
	return results, dropped
}

// waiting returns the key of each run that is pending, in order.
func (c *Controller) waiting() (keys []eval.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.intents.byName {
		if i.pending {
			keys = append(keys, i.key)
		}
	}
	slices.SortFunc(keys, func(a, b eval.Key) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// Flushed is what a flush did for a key.
type Flushed struct {
	Key    eval.Key
	Result Result
}
