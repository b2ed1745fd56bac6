package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/record"
)

// Look decides about a key on the objects as they are, and returns the record. It
// writes and remembers nothing, and nothing waits for it: the next Reconcile is as
// if nobody had looked. Builtins are asked by answers; nil are those of the group.
func (c *Controller) Look(ctx context.Context, key eval.Key, now time.Time, answers expr.Answerer) *record.Record {
	in := c.Input(key, now)
	in.Shared = nil
	if answers != nil {
		in.Answers = answers
	}
	kept := record.Begin(in)
	d := eval.Evaluate(ctx, kept.Inputs.Input, nil)
	kept.End()
	failed := failures{c: c}
	failed.judge(d, decided(d))
	kept.Decision, kept.Next = d, d.Next
	kept.Errors = [2]error{errors.Join(failed.passing...), errors.Join(append(failed.leftAlone, failed.final...)...)}
	if c.Policy.Stateful {
		kept.Memory = c.known.memories.values(key)
	}
	return kept
}
