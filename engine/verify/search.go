package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/schema"
)

// search explores states, those with fewer changes first.
type search struct {
	options  *Options
	alphabet alphabet
	// commute says of which policies the order does not matter.
	commute  map[[2]string]bool
	states   states
	queue    levels
	trials   trials
	out      Result
	fired    map[string]bool
	deadline time.Time
}

func newSearch(o Options, w world) *search {
	s := &search{
		options: &o, commute: map[[2]string]bool{}, states: states{seen: map[digest]int{}}, fired: map[string]bool{},
		alphabet: alphabet{world: &w, schemas: o.Schemas},
		trials:   trials{options: &o, objects: w.objects, forgetful: map[schema.GVK]bool{}, tried: map[string]bool{}, known: map[string]bool{}},
	}
	for _, p := range o.Policies {
		s.out.Explored.Rules += len(p.Rules)
		for _, w := range graph.Writes(p) {
			s.trials.forgetful[w.GVK] = s.trials.forgetful[w.GVK] || slices.Contains(o.MayForget, p.ID())
		}
		for _, q := range o.Policies {
			s.commute[[2]string{p.ID(), q.ID()}] = !p.Stateful && !q.Stateful && graph.Commute(p, q)
		}
	}
	s.out.Explored.Objects, s.out.Explored.Left = len(w.objects), w.left
	return s
}

func (s *search) run(ctx context.Context) (*Result, error) {
	start, within := time.Now(), ctx
	if s.options.Time > 0 {
		s.deadline = start.Add(s.options.Time)
		var cancel func()
		within, cancel = context.WithDeadline(ctx, s.deadline)
		defer cancel()
	}
	s.explore(within)
	s.out.Findings = s.trials.findings
	s.out.Explored.States, s.out.Explored.Time = len(s.states.nodes), time.Since(start)
	s.out.Explored.Open, s.out.Explored.Fired = s.queue.len(), len(s.fired)
	s.out.Explored.Unfired = s.unfired()
	return &s.out, ctx.Err()
}

// unfired are the rules that did not fire, in the order of the policies.
func (s *search) unfired() []string {
	out := []string{}
	for _, p := range s.options.Policies {
		for _, r := range p.Rules {
			if !s.fired[p.ID()+" "+r.Name] {
				out = append(out, p.ID()+": "+r.Name)
			}
		}
	}
	return out
}

func (s *search) explore(ctx context.Context) {
	first := s.options.begin(ctx, s.alphabet.world.objects)
	s.arrive(ctx, first, arrival{parent: -1, from: first.Checkpoint()})
	level := 0
	for s.queue.len() > 0 && !s.over(ctx) {
		if s.queue.level() != level {
			level = s.queue.level()
			s.judging().all(ctx)
		}
		v, cost := s.queue.next()
		e := expanding{search: s, node: s.states.nodes[v.at], at: v.at, cost: cost}
		if v.changes {
			e.changes(ctx)
		} else {
			e.all(ctx)
		}
	}
	s.judging().all(ctx)
}

func (s *search) judging() judging { return judging{states: &s.states, trials: &s.trials} }

// within reports whether the bounds leave room to go on.
func (s *search) within() bool {
	switch {
	case len(s.states.nodes) >= s.options.States:
		s.out.Explored.Why = fmt.Sprintf("%d states", s.options.States)
	case !s.deadline.IsZero() && time.Now().After(s.deadline):
		s.out.Explored.Why = "the time is over"
	default:
		return true
	}
	return false
}

func (s *search) report() {
	if s.options.Progress != nil && len(s.states.nodes)%100 == 0 {
		e := s.out.Explored
		e.States, e.Open = len(s.states.nodes), s.queue.len()
		s.options.Progress(e)
	}
}

func (s *search) over(ctx context.Context) bool {
	return s.trials.full() || !s.within() || ctx.Err() != nil
}

func policyOf(name string) string {
	for i := range name {
		if name[i] == ' ' {
			return name[:i]
		}
	}
	return name
}
