package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/schema"
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
	// class is equal for findings that seem to have one cause.
	class string
}

// maxTrials bounds how many trials that come to nothing are made.
const maxTrials = 300

// trials are made of what may be wrong.
type trials struct {
	options *Options
	objects []simulate.Object
	// forgetful are the kinds that are written by policies which may forget.
	forgetful map[schema.GVK]bool
	// tried are those that were made and not confirmed.
	tried map[string]bool
	// findings are confirmed, known are their classes.
	findings []Finding
	known    map[string]bool
}

// full reports whether the limit of findings is reached.
func (ts *trials) full() bool { return len(ts.findings) >= ts.options.Findings }

// confirm runs a trial, takes what it finds, and reports whether that is wrong.
func (ts *trials) confirm(ctx context.Context, t trial) bool {
	id := fmt.Sprint(t.kind, t.prefix, t.suffix)
	if ts.tried[id] || len(ts.tried) > maxTrials || ts.full() {
		return false
	}
	ts.tried[id] = true
	t.objects = ts.objects
	t.quick = true
	if v := ts.try(ctx, t); !v.wrong || ts.known[v.class] || ctx.Err() != nil {
		return v.wrong && ctx.Err() == nil
	}
	small := ts.shrink(ctx, t)
	v := ts.try(ctx, small)
	if v.wrong {
		t = small
	} else {
		t.quick = false
		if v = ts.try(ctx, t); !v.wrong {
			return false
		}
	}
	if ctx.Err() != nil { // what it came to without an end is not known
		return false
	}
	if !ts.known[v.class] {
		ts.known[v.class] = true
		ts.findings = append(ts.findings, Finding{Kind: ts.sort(ctx, t), Message: v.message, Moves: texts(t), Case: caseOf(t, v)})
	}
	return true
}

func texts(t trial) []string {
	out := []string{}
	for _, m := range slices.Concat(t.prefix, t.suffix) {
		out = append(out, m.String())
	}
	return out
}

// try runs a trial.
func (ts *trials) try(ctx context.Context, t trial) verdict {
	sim, ok := ts.options.replay(ctx, t.objects, slices.Concat(t.prefix, t.suffix))
	if !ok {
		return verdict{}
	}
	if t.quick && t.kind == Oscillation {
		return verdict{wrong: restless(ctx, sim)}
	}
	settle(ctx, sim)
	failed, class := ts.options.unexpected(sim)
	switch ended := sim.Ended(); t.kind {
	case Failed:
		return verdict{wrong: failed != "" && ended == "", message: failed, class: class}
	case Oscillation, Writers:
		return verdict{wrong: ended != "", message: ended, class: ended}
	}
	if failed != "" || sim.Ended() != "" {
		return verdict{}
	}
	return ts.contrast(ctx, t)
}
