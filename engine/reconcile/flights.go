package reconcile

import (
	"sync"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

func isBounded(r *plan.Rule) bool { return r.Debounce != nil && r.Debounce.MaxInFlight > 0 }

// flights counts the keys that run a rule, by its name and for all revisions of the
// policy.
type flights struct {
	mu      sync.Mutex
	running map[string]int64
}

func newFlights() *flights { return &flights{running: map[string]int64{}} }

// begin counts a rule that a key is about to run, if no more than so many keys run it with
// that one.
func (f *flights) begin(rule string, atMost int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[rule] >= atMost {
		return false
	}
	f.running[rule]++
	return true
}

func (f *flights) end(rules []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range rules {
		f.running[rule]--
	}
}

// flight is the rules that a reconciliation runs of which only so many keys may
// run at once. It lasts until the writes are answered.
type flight struct {
	flights *flights
	rules   []string
}

// takeOff returns the flight of an evaluation, which counts with these.
func (f *flights) takeOff(in *eval.Input) *flight {
	one, rules := &flight{flights: f}, in.Policy.Rules
	in.Begin = func(rule int, atMost int64) bool { return one.begin(rules[rule].Name, atMost) }
	return one
}

func (f *flight) begin(rule string, atMost int64) bool {
	if !f.flights.begin(rule, atMost) {
		return false
	}
	f.rules = append(f.rules, rule)
	return true
}

func (f *flight) end() {
	if f != nil {
		f.flights.end(f.rules)
		f.rules = nil
	}
}
