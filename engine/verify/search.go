package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// node is a state that was reached.
type node struct {
	parent int
	// moves lead here from the parent: one that was chosen, and the decisions after it
	// that write nothing.
	moves []Move
	// pending are the keys to decide about, all of which write something.
	pending []simulate.Work
	// sleep are those that need not be decided about here: another way leads to what
	// that would come to. todo are those that are left to be.
	sleep, todo []string
	// changes and clocks count such moves on the way, run the decisions since the last
	// move of another sort.
	changes, clocks, run int
	// next are the states that decisions lead to, lost those that crashes of decisions
	// lead to.
	next []edge
	lost []edge
	// end is what the world ends with, from a state at rest.
	// known is the same without what may be forgotten.
	end, known digest
	done       bool
	// from is the world in which a process began last, on the way here; since are the
	// moves from there.
	from  *simulate.Checkpoint
	since []Move
}

func (n *node) rests() bool { return len(n.pending) == 0 }

type edge struct {
	to   int
	move Move
}

// search explores states, those with fewer changes first.
type search struct {
	options  Options
	world    world
	policies map[string]*plan.Policy
	// commute says of which policies the order does not matter.
	commute map[[2]string]bool
	nodes   []*node
	seen    map[digest]int
	queue   levels
	out     Result
	// tried are the findings that were looked at and not confirmed.
	tried map[string]bool
	// forgetful are the kinds that are written by policies which may forget.
	forgetful map[schema.GVK]bool
	fired     map[string]bool
	deadline  time.Time
}

func newSearch(o Options, w world) *search {
	s := &search{
		options: o, world: w, policies: map[string]*plan.Policy{}, commute: map[[2]string]bool{}, seen: map[digest]int{},
		tried: map[string]bool{}, forgetful: map[schema.GVK]bool{}, fired: map[string]bool{},
	}
	for _, p := range o.Policies {
		s.policies[p.Name] = p
		s.out.Explored.Rules += len(p.Rules)
		for _, w := range graph.Writes(p) {
			s.forgetful[w.GVK] = s.forgetful[w.GVK] || slices.Contains(o.MayForget, p.Name)
		}
		for _, q := range o.Policies {
			s.commute[[2]string{p.Name, q.Name}] = !p.Stateful && !q.Stateful && graph.Commute(p, q)
		}
	}
	s.out.Explored.Objects, s.out.Explored.Left = len(w.objects), w.left
	return s
}

func (s *search) run(ctx context.Context) (*Result, error) {
	start := time.Now()
	if s.options.Time > 0 {
		s.deadline = start.Add(s.options.Time)
	}
	s.explore(ctx)
	s.out.Explored.States, s.out.Explored.Time = len(s.nodes), time.Since(start)
	s.out.Explored.Open, s.out.Explored.Fired = s.queue.len(), len(s.fired)
	return &s.out, ctx.Err()
}

func (s *search) explore(ctx context.Context) {
	first := s.options.begin(ctx, s.world.objects)
	s.arrive(ctx, first, arrival{parent: -1, from: first.Checkpoint()})
	level := 0
	for s.queue.len() > 0 && s.out.Finding == nil && ctx.Err() == nil && s.within() {
		if s.queue.level() != level {
			level = s.queue.level()
			if s.judge(ctx); s.out.Finding != nil {
				return
			}
		}
		switch v, cost := s.queue.next(); {
		case v.changes:
			s.changes(ctx, v.at, cost)
		default:
			s.expand(ctx, v.at, cost)
		}
	}
	if s.out.Finding == nil {
		s.judge(ctx)
	}
}

// within reports whether the bounds leave room to go on.
func (s *search) within() bool {
	switch {
	case len(s.nodes) >= s.options.States:
		s.out.Explored.Why = fmt.Sprintf("%d states", s.options.States)
	case !s.deadline.IsZero() && time.Now().After(s.deadline):
		s.out.Explored.Why = "the time is over"
	default:
		return true
	}
	return false
}

// path returns the moves from the start to a state.
func (s *search) path(at int) []Move {
	var parts [][]Move
	for ; at >= 0; at = s.nodes[at].parent {
		parts = append(parts, s.nodes[at].moves)
	}
	slices.Reverse(parts)
	return slices.Concat(parts...)
}

// arrival is how a state was reached.
type arrival struct {
	parent               int
	move                 *Move
	changes, clocks, run int
	sleep                []string
	// from is where a process has just begun; nil when it was before.
	from *simulate.Checkpoint
	// cost orders the states.
	cost int
}

// arrive takes a simulation in a new state, and returns the state; -1 when the search
// is over.
func (s *search) arrive(ctx context.Context, sim *simulate.Simulation, a arrival) int {
	n := &node{parent: a.parent, changes: a.changes, clocks: a.clocks, run: a.run, sleep: a.sleep}
	if a.move != nil {
		n.moves = append(n.moves, *a.move)
		s.out.Explored.Moves++
	}
	n.moves = append(n.moves, s.idle(ctx, sim)...)
	s.noteFired(sim)
	s.out.Explored.Evaluations += sim.Evaluations()
	if s.failed(ctx, sim, n) {
		return -1
	}
	id := stateOf(sim)
	if at, ok := s.seen[id]; ok {
		s.again(at, n, a.cost)
		return at
	}
	n.pending = sim.Pending()
	at := len(s.nodes)
	s.nodes, s.seen[id] = append(s.nodes, n), at
	s.since(n, a)
	for _, w := range n.pending {
		if name := w.String(); !slices.Contains(n.sleep, name) {
			n.todo = append(n.todo, name)
		} else {
			s.out.Explored.Commuting++
		}
	}
	if n.rests() && !s.rest(ctx, sim, at) {
		return -1
	}
	s.queue.add(a.cost, visit{at: at})
	s.report()
	return at
}

// since notes from where a state is reached again.
func (s *search) since(n *node, a arrival) {
	if a.from != nil {
		n.from, n.since = a.from, n.moves
		if a.move != nil {
			n.since = n.moves[1:]
		}
		return
	}
	parent := s.nodes[a.parent]
	n.from, n.since = parent.from, slices.Concat(parent.since, n.moves)
}

// at returns a simulation in a state that is known.
func (s *search) at(ctx context.Context, n *node) *simulate.Simulation {
	sim := started(ctx, s.options.stopped(ctx, n.from))
	for _, m := range n.since {
		m.make(ctx, sim)
	}
	return sim
}

// again takes a way to a state that is known: what was not done there, because another
// way leads to the same, may have to be done now.
func (s *search) again(at int, n *node, cost int) {
	known := s.nodes[at]
	var woken, still []string
	for _, name := range known.sleep {
		if slices.Contains(n.sleep, name) {
			still = append(still, name)
		} else {
			woken = append(woken, name)
		}
	}
	fewer := n.changes < known.changes || n.changes == known.changes && n.clocks < known.clocks
	if len(woken) == 0 && !fewer {
		return
	}
	known.sleep = still
	known.todo = append(known.todo, woken...)
	if fewer {
		known.changes, known.clocks, known.done = n.changes, n.clocks, false
	}
	s.queue.add(cost, visit{at: at})
}

// idle decides about the keys of which the decision writes nothing: in which order is
// all the same.
func (s *search) idle(ctx context.Context, sim *simulate.Simulation) (moves []Move) {
	for found := true; found; {
		found = false
		for _, w := range sim.Pending() {
			if writes(sim.Controller(w.Policy).Evaluate(ctx, w.Key, sim.Now())) {
				continue
			}
			sim.Decide(ctx, w)
			moves, found = append(moves, Move{Decide: w.String()}), true
		}
		if sim.Ended() != "" || len(sim.Errors()) > 0 || len(moves) > maxRun*20 {
			break
		}
	}
	return moves
}

// writes reports whether a decision changes more than when the key is due.
func writes(d *eval.Decision) bool {
	return len(d.Remember) > 0 || len(d.Debounced) > 0 || slices.ContainsFunc(d.Effects, func(e *eval.Effect) bool { return e.Verb != eval.VerbEvent })
}

func (s *search) noteFired(sim *simulate.Simulation) {
	for policy, rules := range sim.Fired() {
		for rule := range rules {
			s.fired[policy+" "+rule] = true
		}
	}
}

// unexpected returns the first error that nobody expects; "" is none.
func (o *Options) unexpected(sim *simulate.Simulation) string {
	for _, e := range sim.Errors() {
		if !slices.ContainsFunc(o.Expected, func(part string) bool { return strings.Contains(e.Message, part) }) {
			return fmt.Sprintf("%s %s: %s", e.Policy, e.Key, e.Message)
		}
	}
	return ""
}

// failed reports whether the search is over because of an error. A state with an error
// that is expected is gone on from.
func (s *search) failed(ctx context.Context, sim *simulate.Simulation, n *node) bool {
	message := s.options.unexpected(sim)
	if sim.Ended() == "" && message == "" {
		if n.run <= maxRun {
			return false
		}
		s.confirm(ctx, trial{kind: Oscillation, prefix: append(s.path(n.parent), n.moves...)})
		n.run = 0
		return s.out.Finding != nil
	}
	t := trial{kind: Failed, prefix: append(s.path(n.parent), n.moves...)}
	if sim.Ended() != "" {
		t.kind = Oscillation
	}
	s.confirm(ctx, t)
	return s.out.Finding != nil
}

func (s *search) report() {
	if s.options.Progress != nil && len(s.nodes)%100 == 0 {
		e := s.out.Explored
		e.States, e.Open = len(s.nodes), s.queue.len()
		s.options.Progress(e)
	}
}

// visit is a state to go on from: by decisions, crashes and deadlines, or by changes
// from outside.
type visit struct {
	at      int
	changes bool
}

// levels is a queue of states by what they cost.
type levels struct {
	byCost [][]visit
	count  int
}

func (l *levels) add(cost int, v visit) {
	for len(l.byCost) <= cost {
		l.byCost = append(l.byCost, nil)
	}
	l.byCost[cost] = append(l.byCost[cost], v)
	l.count++
}

func (l *levels) len() int { return l.count }

// level returns the lowest cost of a state in the queue. There must be one.
func (l *levels) level() int {
	return slices.IndexFunc(l.byCost, func(list []visit) bool { return len(list) > 0 })
}

func (l *levels) next() (v visit, cost int) {
	cost = l.level()
	v = l.byCost[cost][0]
	l.byCost[cost] = l.byCost[cost][1:]
	l.count--
	return v, cost
}
