package simulate

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// Work is a key that is to be decided about.
type Work struct {
	Policy string
	Key    eval.Key
}

// String returns how an order names it: POLICY [NAMESPACE/]NAME.
func (w Work) String() string { return w.Policy + " " + w.Key.String() }

// Others stands in an order for all keys that it does not name, as they come.
const Others = "..."

func work(i item) Work { return Work{Policy: i.policy, Key: i.key} }

// Pending returns the keys that are to be decided about now, sorted.
func (s *Simulation) Pending() []Work {
	list := s.agenda.work.all()
	out := make([]Work, len(list))
	for n, d := range list {
		out[n] = work(d.item)
	}
	return out
}

// Decide decides about one key that is pending.
func (s *Simulation) Decide(ctx context.Context, w Work) {
	s.agenda.order = []string{w.String()}
	s.settle(ctx)
}

// Effects returns what was written so far. It must not be changed.
func (s *Simulation) Effects() []Effect { return s.done.result.Effects }

// Errors returns what has failed so far. It must not be changed.
func (s *Simulation) Errors() []Error { return s.done.result.Errors }

// Due returns the first instant at which something is due, or false.
func (s *Simulation) Due() (time.Time, bool) { return s.agenda.next() }

// Timers returns when keys are due, by policy and key.
func (s *Simulation) Timers(visit func(w Work, at time.Time)) {
	for _, list := range []*schedule{s.agenda.timers, s.agenda.retries} {
		for _, d := range list.all() {
			visit(work(d.item), d.at)
		}
	}
}
