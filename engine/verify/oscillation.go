package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/simulate"
)

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

// sort says more exactly what an oscillation is: of several policies that write one
// field, or of any other sort.
func (ts *trials) sort(ctx context.Context, t trial) Kind {
	if t.kind != Oscillation {
		return t.kind
	}
	sim, _ := ts.options.replay(ctx, t.objects, slices.Concat(t.prefix, t.suffix))
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
