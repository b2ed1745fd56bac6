package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
)

// trialKeys is for how many keys another revision is tried out before it takes
// over.
const trialKeys = 20

// Costly tries this revision out on the world as it is, for keys spread over all
// that there are, and says for which it costs more than it may although the one
// in force does not. What a text costs depends on the objects: no look at the
// text alone tells.
func (c *Controller) Costly(ctx context.Context, now *Controller, keys []eval.Key, at time.Time) error {
	snapshot := c.group.store.Snapshot()
	for i := range min(trialKeys, len(keys)) {
		key := keys[i*len(keys)/min(trialKeys, len(keys))]
		if costly(c.dry(ctx, key, snapshot, at, nil)) == nil || costly(now.dry(ctx, key, snapshot, at, nil)) != nil {
			continue
		}
		// Twice: the time that a run takes depends on what else the machine does.
		if p := costly(c.dry(ctx, key, snapshot, at, nil)); p != nil {
			return fmt.Errorf("rule %q costs too much for %s: %w", p.Rule, key, p.Err)
		}
	}
	return nil
}

// costly gives the first item that failed because of what it costs; nil for
// none.
func costly(d *eval.Decision) *eval.Problem {
	for i := range d.Problems {
		if expr.TooCostly(d.Problems[i].Err) {
			return &d.Problems[i]
		}
	}
	return nil
}
