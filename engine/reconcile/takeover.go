package reconcile

import (
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// takeover hands over what is known from one revision of a policy to another. Its methods
// are called with the locks of both, unless they say that they take them.
type takeover struct {
	from, to *Controller
	// anew says that all keys are decided about again; bodies are the rules that differ,
	// if not.
	anew   bool
	bodies eval.RuleSet
}

// all takes over what does not depend on how a key is decided.
func (t *takeover) all() {
	from, to := t.from, t.to
	to.known.memories.copy(from.known.memories) // a rollout may have given keys to this one already
	to.known.states.takeInitial(from.known.states)
	to.known.writes.copy(from.known.writes)
	t.share()
	to.known.measure()
	to.counts.Dropped.Add(float64(to.known.intents.copy(from.known.intents, t.rule)))
	t.anew, t.bodies = differs(from.Policy, to.Policy)
	if to.shadow != nil && from.shadow != nil { // it writes nothing, and counts from the beginning
		t.anew = true
		to.shadow.adopt(from.shadow)
	}
}

// share lets the revision know the events that another has emitted.
func (t *takeover) share() {
	if t.to.known.revisions.told != t.from.known.revisions.told { // it has not decided about anything yet
		t.to.known.revisions.told = t.from.known.revisions.told
	}
}

// differs says what another revision of a policy may decide otherwise: for all
// keys, or for those for which certain rules got as far as an item.
func differs(old, now *plan.Policy) (all bool, bodies eval.RuleSet) {
	if old.Primary.Node.Hash() != now.Primary.Node.Hash() || len(old.Rules) != len(now.Rules) {
		return true, bodies
	}
	for i, r := range now.Rules {
		if old.Rules[i].Gate.Hash() != r.Gate.Hash() {
			return true, bodies
		}
		if old.Rules[i].Node.Hash() != r.Node.Hash() {
			bodies.Add(i)
		}
	}
	return false, bodies
}

// keep takes over what a key reads, so that a change of it wakes the key, unless the key
// is to be decided about again, which it reports by false.
func (t *takeover) keep(key eval.Key) bool {
	was, compared := t.from.known.states.of(key), t.to.known.states.of(key).memo != nil
	if t.anew || compared || was.busy || !was.last.clean || was.last.rules.Meets(t.bodies) {
		return false
	}
	t.to.known.states.at(key).last = was.last
	if was.memo != nil {
		t.carry(key, was.memo)
	}
	return true
}

// carry takes over what a memo has read. What was computed from it is not kept.
func (t *takeover) carry(key eval.Key, was *eval.Memo) {
	from, to := t.from.Policy, t.to.Policy
	m := was.Carry(func(at eval.Lookup) int {
		if at.Target {
			return targetLike(to, from.Targets[at.Input].Source, at.Key)
		}
		return slices.IndexFunc(to.Inputs, func(in *plan.Input) bool { return in.Name == from.Inputs[at.Input].Name })
	})
	t.to.known.states.at(key).memo = m
	t.to.reads.router.Looked(key, m.Lookups())
}

// targetLike finds the target for an object that was one of a source before:
// what else the policy watches decides how narrow the sources of targets are.
func targetLike(p *plan.Policy, before world.Source, key string) int {
	same := slices.IndexFunc(p.Targets, func(t *plan.Target) bool { return t.Source == before })
	if same >= 0 {
		return same
	}
	id := eval.TargetID(before.GVK, key)
	return slices.IndexFunc(p.Targets, func(t *plan.Target) bool { return t.Source.May(id) })
}

// rule returns the number that a rule of the one revision has in the other; -1 is that it
// is not there, or debounces nothing.
func (t *takeover) rule(rule int) int {
	name := t.from.Policy.Rules[rule].Name
	return slices.IndexFunc(t.to.Policy.Rules, func(r *plan.Rule) bool { return r.Name == name && r.Debounce != nil })
}

// retire drops what was taken over, except for the keys that are still being decided
// about: they are handed over when they end.
func (t *takeover) retire() {
	done := func(key eval.Key) bool { return !t.from.known.states.of(key).busy }
	t.from.known.intents.dropAll(done)
	t.from.known.memories.drop(done)
	t.from.known.writes.drop(done)
	t.from.known.echoes.dropAll(func(eval.Key) bool { return true })
}

// key takes over what is known of a key, so that it is known in one place.
func (t *takeover) key(key eval.Key) {
	from, to := t.from, t.to
	to.known.memories.move(from.known.memories, key)
	to.known.writes.move(from.known.writes, key)
	to.counts.Dropped.Add(float64(to.known.intents.copyOf(from.known.intents, key, t.rule)))
	to.known.measure()
}

// late takes over a key that was still being decided about. It takes the locks, and
// returns the revision that has taken over from the second one meanwhile, if any.
func (t *takeover) late(key eval.Key) (next *Controller) {
	t.from.known.mu.Lock()
	defer t.from.known.mu.Unlock()
	t.to.known.mu.Lock()
	defer t.to.known.mu.Unlock()
	t.key(key)
	return t.to.known.revisions.successor
}

// handOver ends the decision of a revision about a key. What came of it is handed to the
// revision that has taken over meanwhile, and on to those that have taken over since.
func handOver(from *Controller, key eval.Key) {
	for next := from.known.end(key); next != nil; {
		t := takeover{from: from, to: next}
		from, next = next, t.late(key)
	}
}

// owner takes over a key of a rollout, by the same rules as Adopt does for all keys. It
// takes the locks.
func (t *takeover) owner(key eval.Key) {
	from, to := t.from, t.to
	from.known.mu.Lock()
	defer from.known.mu.Unlock()
	to.known.mu.Lock()
	defer to.known.mu.Unlock()
	t.key(key)
	from.known.echoes.drop(key)
	from.known.intents.dropOf(key)
	if k := from.known.states[key]; k != nil {
		if k.initial {
			now := to.known.states.at(key)
			now.initial, now.takeover = true, k.takeover
		}
		k.last = reach{}
		from.known.states.tidy(key, k)
	}
}
