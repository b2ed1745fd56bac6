package verify

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/simulate"
)

// contrast runs both ways, and compares what they end with.
func (ts *trials) contrast(ctx context.Context, t trial) verdict {
	usual, ok := ts.options.replay(ctx, t.objects, t.prefix)
	if !ok {
		return verdict{}
	}
	other, _ := ts.options.replay(ctx, t.objects, slices.Concat(t.prefix, t.suffix))
	settle(ctx, usual)
	settle(ctx, other)
	found := ts.differences(t, usual, other)
	if len(found) > 0 && !soon(usual) && !soon(other) {
		return verdictOf(t, found, 0)
	}
	waited := max(finish(ctx, usual), finish(ctx, other))
	for _, sim := range []*simulate.Simulation{usual, other} {
		sim.Advance(ctx, ts.options.Start.Add(waited+elapsed(t)))
	}
	if failed, _ := ts.options.unexpected(other); failed != "" {
		return verdict{}
	}
	return verdictOf(t, ts.differences(t, usual, other), waited)
}

// differences compares two worlds, as far as the kind of a trial allows.
func (ts *trials) differences(t trial, usual, other *simulate.Simulation) []difference {
	a, b := usual.Objects(), other.Objects()
	if t.kind == Crash {
		a, b = ts.remembered(a), ts.remembered(b)
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

// verdictOf returns what a trial came to that ends with some differences.
func verdictOf(t trial, found []difference, waited time.Duration) verdict {
	if len(found) == 0 {
		return verdict{}
	}
	why := map[Kind]string{
		Order: "the end depends on the order in which keys are decided about",
		Crash: "the end depends on where the process was killed",
		Rest:  "the world was at rest, and yet something is left to write",
	}[t.kind]
	return verdict{wrong: true, waited: waited, differences: found, message: why + ": " + found[0].String(), class: string(t.kind) + found[0].id.Kind()}
}

// remembered returns the objects that do not depend on what may be forgotten.
func (ts *trials) remembered(objects []simulate.Object) []simulate.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o simulate.Object) bool { return ts.forgetful[gvkOf(o)] })
}
