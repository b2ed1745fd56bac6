package eval

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/budget"
)

// plainCoalesce joins effects as they are described: each to the first of its object and
// subresource since the last write whose order matters, with frozen objects, when all of them
// are there.
func plainCoalesce(effects []*Effect, apart []string) []*Effect {
	patches := func(e *Effect) bool { return e.Verb == VerbPatch || e.Verb == VerbScale }
	var out, joined []*Effect
	begin := 0
next:
	for _, e := range effects {
		if patches(e) {
			for i, was := range out[begin:] {
				if (was.Verb == e.Verb || was.Verb == VerbCreate && e.Verb == VerbPatch) && was.Target == e.Target && was.Subresource == e.Subresource && was.Finally == e.Finally && was.of(apart) == e.of(apart) {
					out[begin+i] = plainJoin(was, e)
					joined = append(slices.DeleteFunc(joined, func(j *Effect) bool { return j == was }), out[begin+i])
					continue next
				}
			}
		}
		if e.Verb != VerbPatch && e.Verb != VerbEvent {
			begin = len(out)
		}
		out = append(out, e)
	}
	out = slices.DeleteFunc(out, func(e *Effect) bool {
		if !patches(e) || !slices.Contains(joined, e) {
			return false
		}
		_, patch := mergeDiff(e.Before, e.Patch, nil)
		e.Patch, _ = patch.(*value.Map)
		return e.Patch == nil
	})
	return slices.DeleteFunc(slices.Clone(out), func(e *Effect) bool {
		var patch *value.Map
		var first *Effect
		n := 0
		for _, other := range out {
			switch {
			case other.Target != e.Target || other.Subresource != e.Subresource || other.of(apart) != e.of(apart) || other.Verb == VerbEvent:
				continue
			case other.Verb != VerbPatch:
				return false
			case first == nil:
				first, patch = other, other.Patch
			default:
				patch = patch.Merged(other.Patch)
			}
			n++
		}
		if n < 2 || e.Verb != VerbPatch {
			return false
		}
		_, rest := mergeDiff(first.Before, patch, nil)
		return rest == nil
	})
}

func plainJoin(a, b *Effect) *Effect {
	j := *a
	j.Patch = a.Patch.Merged(b.Patch)
	if a.Verb == VerbCreate {
		next, _ := mergeDiff(a.Patch, b.Patch, nil)
		j.Patch, _ = next.(*value.Map)
	}
	j.Unlocked = a.Unlocked && b.Unlocked
	j.Conditions = slices.Concat(a.Conditions, b.Conditions)
	j.Rules = slices.Clone(a.Rules)
	for _, rule := range b.Rules {
		if !slices.Contains(j.Rules, rule) {
			j.Rules = append(j.Rules, rule)
		}
	}
	if b.Item != a.Item && !slices.Contains(a.Also, b.Item) {
		j.Also = append(slices.Clone(a.Also), b.Item)
	}
	j.Replicas = b.Replicas
	return &j
}

// anything is what a patch may have in a field: nulls, what is empty, and objects.
func anything(r *rand.Rand, depth int) value.Value {
	if depth > 0 && r.IntN(2) == 0 {
		return fieldsOf(r, depth-1)
	}
	n := r.IntN(3)
	return []value.Value{
		value.Null, value.OfInt(int64(n)), value.OfString(fmt.Sprint(n)), value.EmptyList, value.Empty, value.NewList([]value.Value{value.OfInt(int64(n))}),
	}[r.IntN(6)]
}

func fieldsOf(r *rand.Rand, depth int) *value.Map {
	out := map[string]value.Value{}
	for range 1 + r.IntN(3) {
		out[fmt.Sprint("f", r.IntN(4))] = anything(r, depth)
	}
	return value.FromMap(out)
}

// written are effects as an evaluation may have them, mostly about one object.
func written(r *rand.Rand) (out []*Effect) {
	verb := []string{VerbPatch, VerbPatch, VerbScale}[r.IntN(3)]
	for i := range r.IntN(40) {
		e := &Effect{
			Verb: verb, Target: world.MustIdentify(schema.GVK{}, "", "a"), Patch: fieldsOf(r, 3), Before: fieldsOf(r, 3), Item: i, Rule: i / 3, Unlocked: r.IntN(2) == 0,
			Rules: []string{fmt.Sprint("r", r.IntN(3)/2)}, Replicas: int64(i),
		}
		switch r.IntN(20) {
		case 0:
			e.Target = world.MustIdentify(schema.GVK{}, "", "b")
		case 1:
			e.Verb, e.Before = VerbCreate, value.Empty
		case 2, 3:
			e.Verb = VerbEvent
		case 5:
			e.Verb, e.Finally = VerbPatch, true
		case 6:
			e.Verb = VerbDelete
		case 4:
			e.Conditions = []string{fmt.Sprint(i)}
		}
		out = append(out, e)
	}
	return out
}

// allOf returns effects with all that is in them.
func allOf(effects []*Effect) (out []string) {
	for _, e := range effects {
		own := *e
		own.Patch, own.Before = nil, nil
		out = append(out, fmt.Sprintf("%+v %s deep %d, before %s", own, value.Identity(e.Patch), value.Deep(e.Patch), value.Identity(e.Before)))
	}
	return out
}

// TestCoalesce: effects that are joined item by item are
// what joining two at a time gives; and what is counted of them is no less than they have.
func TestCoalesce(t *testing.T) {
	t.Parallel()
	drafts, count := 0, budget.Of(800, 4000)
	for seed := range uint64(count) {
		r := rand.New(rand.NewPCG(seed, 2))
		apart := [][]string{nil, {"r1"}}[r.IntN(2)]
		effects := written(r)
		before := allOf(effects)
		want := allOf(plainCoalesce(slices.Clone(effects), apart))
		ev := &ruleRun{ev: &evaluation{decision: &Decision{}, in: Input{Policy: &plan.Policy{}, Apart: apart}}}
		for rest := effects; len(rest) > 0; {
			n, first := 1+r.IntN(min(3, len(rest))), len(ev.ev.decision.Effects)
			ev.ev.decision.Effects, rest = append(ev.ev.decision.Effects, rest[:n]...), rest[n:]
			if err := ev.fit(first); err != nil {
				t.Fatal(err)
			}
			coalescing{ev.ev}.coalesce(first)
			drafts += len(ev.ev.coalescer.joined)
		}
		coalescing{ev.ev}.coalesced()
		if diff := cmp.Diff(want, allOf(ev.ev.decision.Effects)); diff != "" {
			t.Fatalf("seed %d (-two at a time +item by item):\n%s\nof %v", seed, diff, before)
		}
		bytes := 0
		for _, e := range ev.ev.decision.Effects {
			bytes += value.Deep(e.Patch)
		}
		if ev.ev.written < bytes {
			t.Fatalf("seed %d: %d bytes are counted of %d", seed, ev.ev.written, bytes)
		}
	}
	if drafts < count/4 {
		t.Errorf("only %d drafts", drafts)
	}
}

// joiningBytes is how many bytes joining so many patches of one object allocates: each adds
// a field, and replaces a list of as many items as there are so far.
func joiningBytes(t *testing.T, verb string, n int) uint64 {
	t.Helper()
	ev := &ruleRun{ev: &evaluation{decision: &Decision{}, in: Input{Policy: &plan.Policy{}}}}
	items := make([]value.Value, 0, n)
	effects := make([]*Effect, n)
	for i := range effects {
		name := fmt.Sprintf("n%05d", i)
		items = append(items, value.OfString(name))
		added := nest([]string{"metadata", "annotations", name}, value.OfString("x")).With("list", value.NewList(items[:i+1]))
		effects[i] = &Effect{Verb: VerbPatch, Patch: added, Before: value.Empty, Conditions: []string{name}}
	}
	effects[0].Verb = verb
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, e := range effects {
		first := len(ev.ev.decision.Effects)
		ev.ev.decision.Effects = append(ev.ev.decision.Effects, e)
		if err := ev.fit(first); err != nil {
			t.Fatalf("%d patches: %v", i, err)
		}
		coalescing{ev.ev}.coalesce(first)
	}
	coalescing{ev.ev}.coalesced()
	runtime.ReadMemStats(&after)
	if len(ev.ev.decision.Effects) != 1 || len(ev.ev.decision.Effects[0].Conditions) != n {
		t.Fatal(allOf(ev.ev.decision.Effects))
	}
	if last := value.Deep(ev.ev.decision.Effects[0].Patch); ev.ev.written > 6*last {
		t.Errorf("%s: %d bytes are counted of %d", verb, ev.ev.written, last)
	}
	return after.TotalAlloc - before.TotalAlloc
}

// TestGrowthOfJoining: joining ten times the patches of one object allocates about ten times
// as much, and what is counted of them is about what they come to: three thousand lists of
// up to three thousand items would have 100 MiB. It is not parallel, because it counts what
// the process allocates.
func TestGrowthOfJoining(t *testing.T) {
	for _, verb := range []string{VerbPatch, VerbCreate} {
		few, more := joiningBytes(t, verb, 300), joiningBytes(t, verb, 3000)
		if more > 15*few {
			t.Errorf("%s: %d bytes for 300 patches, %d for 3,000", verb, few, more)
		}
	}
}
