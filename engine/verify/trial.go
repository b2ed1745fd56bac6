package verify

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// trial is something that may be wrong: moves, and where the way that is tried parts
// from the usual one.
type trial struct {
	kind Kind
	// prefix are the moves of both ways, suffix those of the one alone. The usual way
	// decides as keys come.
	prefix, suffix []Move
	objects        []simulate.Object
	// quick takes many decisions for ones without an end: it is for trials of which
	// the last is made again.
	quick bool
}

// verdict is what a trial came to.
type verdict struct {
	wrong   bool
	message string
	// waited is how long the clock has to go on before the difference shows.
	waited time.Duration
	// differences are what the usual way ends with, and the other does not.
	differences []difference
	// idle says that there are none: what is wrong is a write that changes nothing.
	idle bool
}

// maxTrials bounds how many trials that come to nothing are made.
const maxTrials = 300

// confirm runs a trial, and takes what it finds.
func (s *search) confirm(ctx context.Context, t trial) {
	id := fmt.Sprint(t.kind, t.prefix, t.suffix)
	if s.tried[id] || len(s.tried) > maxTrials || s.out.Finding != nil {
		return
	}
	s.tried[id] = true
	t.objects = s.world.objects
	t.quick = true
	if v := s.try(ctx, t); !v.wrong {
		return
	}
	small := s.shrink(ctx, t)
	v := s.try(ctx, small)
	if v.wrong {
		t = small
	} else {
		t.quick = false
		if v = s.try(ctx, t); !v.wrong {
			return
		}
	}
	s.out.Finding = &Finding{Kind: s.sort(ctx, t), Message: v.message, Moves: texts(t), Case: caseOf(t, v)}
}

func texts(t trial) []string {
	out := []string{}
	for _, m := range slices.Concat(t.prefix, t.suffix) {
		out = append(out, m.String())
	}
	return out
}

// try runs a trial.
func (s *search) try(ctx context.Context, t trial) verdict {
	sim, ok := s.options.replay(ctx, t.objects, slices.Concat(t.prefix, t.suffix))
	if !ok {
		return verdict{}
	}
	if t.quick && t.kind == Oscillation {
		return verdict{wrong: restless(ctx, sim)}
	}
	settle(ctx, sim)
	failed := s.options.unexpected(sim)
	switch ended := sim.Ended(); t.kind {
	case Failed:
		return verdict{wrong: failed != "" && ended == "", message: failed}
	case Oscillation, Writers:
		return verdict{wrong: ended != "", message: ended}
	}
	if failed != "" || sim.Ended() != "" {
		return verdict{}
	}
	return s.contrast(ctx, t)
}

// restlessAfter is how many decisions are taken for ones without an end.
const restlessAfter = 100

// restless decides as settle does, and reports whether there is no end in sight.
func restless(ctx context.Context, sim *simulate.Simulation) bool {
	for range restlessAfter {
		pending := sim.Pending()
		if len(pending) == 0 {
			return false
		}
		sim.Decide(ctx, pending[0])
	}
	return true
}

// contrast runs both ways, and compares what they end with.
func (s *search) contrast(ctx context.Context, t trial) verdict {
	usual, ok := s.options.replay(ctx, t.objects, t.prefix)
	if !ok {
		return verdict{}
	}
	other, _ := s.options.replay(ctx, t.objects, slices.Concat(t.prefix, t.suffix))
	settle(ctx, usual)
	settle(ctx, other)
	found := s.differences(t, usual, other)
	if len(found) > 0 && !soon(usual) && !soon(other) {
		return s.verdict(t, found, 0)
	}
	if e := idle(usual, other); t.kind == Rest && e != nil {
		message := fmt.Sprintf("the world was at rest, and yet the rule %q writes what changes nothing: %s %s %s", e.Rule, e.Verb, e.Target.Kind, e.Target.Name)
		return verdict{wrong: true, idle: true, message: message}
	}
	waited := max(finish(ctx, usual), finish(ctx, other))
	for _, sim := range []*simulate.Simulation{usual, other} {
		sim.Advance(ctx, s.options.Start.Add(waited+elapsed(t)))
	}
	if failed := s.options.unexpected(other); failed != "" {
		return verdict{}
	}
	return s.verdict(t, s.differences(t, usual, other), waited)
}

// idle returns a write of the other world that the usual one does not have and that has
// left no trace; nil is none.
func idle(usual, other *simulate.Simulation) *simulate.Effect {
	more := other.Effects()[min(len(usual.Effects()), len(other.Effects())):]
	at := slices.IndexFunc(more, func(e simulate.Effect) bool { return e.Verb != eval.VerbEvent })
	if at < 0 || !reflect.DeepEqual(usual.Objects(), other.Objects()) {
		return nil
	}
	return &more[at]
}

// differences compares two worlds, as far as the kind of a trial allows.
func (s *search) differences(t trial, usual, other *simulate.Simulation) []difference {
	a, b := usual.Objects(), other.Objects()
	if t.kind == Crash {
		a, b = s.remembered(a), s.remembered(b)
	}
	return differences(a, b)
}

// soon reports whether something is due later.
func soon(sim *simulate.Simulation) bool {
	_, ok := sim.Due()
	return ok
}

// elapsed is how far the clock has moved by the moves of a trial.
func elapsed(t trial) (sum time.Duration) {
	for _, m := range slices.Concat(t.prefix, t.suffix) {
		sum += m.Advance
	}
	return sum
}

func (s *search) verdict(t trial, found []difference, waited time.Duration) verdict {
	if len(found) == 0 {
		return verdict{}
	}
	why := map[Kind]string{
		Order: "the end depends on the order in which keys are decided about",
		Crash: "the end depends on where the process was killed",
		Rest:  "the world was at rest, and yet something is left to write",
	}[t.kind]
	return verdict{wrong: true, waited: waited, differences: found, message: why + ": " + found[0].String()}
}

// sort says more exactly what an oscillation is: of several policies that write one
// field, or of any other sort.
func (s *search) sort(ctx context.Context, t trial) Kind {
	if t.kind != Oscillation {
		return t.kind
	}
	sim, _ := s.options.replay(ctx, t.objects, slices.Concat(t.prefix, t.suffix))
	restless(ctx, sim)
	type place struct {
		target simulate.Target
		path   string
	}
	by := map[place]string{}
	effects := sim.Effects()
	for _, e := range effects[max(0, len(effects)-200):] {
		for path, v := range leaves("", e.Patch) {
			at := place{e.Target, path}
			mine := e.Policy + " " + v
			if before, ok := by[at]; ok && policyOf(before) != e.Policy && before != mine {
				return Writers
			}
			by[at] = mine
		}
	}
	return Oscillation
}

// leaves returns the fields of a patch with their values as text.
func leaves(path string, v any) map[string]string {
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]string{path: fmt.Sprint(v)}
	}
	out := map[string]string{}
	for name, field := range m {
		maps.Copy(out, leaves(path+"."+name, field))
	}
	return out
}

// shrink leaves out objects and moves while the trial still comes to the same.
func (s *search) shrink(ctx context.Context, t trial) trial {
	if t.kind == Failed || t.kind == Oscillation {
		t.suffix, t.prefix = nil, slices.Concat(t.prefix, t.suffix)
	}
	t.quick = true
	for again := true; again && ctx.Err() == nil; {
		again = false
		t.objects = fewer(t.objects, &again, func(list []simulate.Object) bool {
			one := t
			one.objects = list
			return s.try(ctx, one).wrong
		})
		t.prefix = fewer(t.prefix, &again, func(list []Move) bool {
			one := t
			one.prefix = list
			return s.try(ctx, one).wrong
		})
		t.suffix = fewer(t.suffix, &again, func(list []Move) bool {
			one := t
			one.suffix = list
			return s.try(ctx, one).wrong
		})
	}
	t.quick = false
	return t
}

// fewer leaves out parts of a list, long ones first, while it stays wrong.
func fewer[T any](list []T, less *bool, wrong func([]T) bool) []T {
	for size := len(list); size > 0; size /= 2 {
		for at := len(list) - size; at >= 0; at -= size {
			if at+size > len(list) {
				continue
			}
			without := slices.Delete(slices.Clone(list), at, at+size)
			if wrong(without) {
				list, *less = without, true
			}
		}
	}
	return list
}
