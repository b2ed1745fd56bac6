package eval

import (
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Rejection is a write that the API server has refused for what it says, with its error.
type Rejection struct {
	Effect *Effect
	Err    error
}

// errRejected says that an item wants what the API server has just refused. It passes: the
// write is tried again.
var errRejected = errors.New("the API server refuses it")

// rejected fails for a child that wants what was refused, from the first of some effects on.
// What the rules below see is as if it had never been wanted.
func (r *ruleRun) rejected(first int) error {
	if len(r.ev.in.Rejected) == 0 || !r.rule.Child {
		return nil
	}
	for _, e := range r.ev.decision.Effects[first:] {
		for _, was := range r.ev.in.Rejected {
			if was.of(e) {
				return &expr.Failure{At: r.rule.Pos, Err: fmt.Errorf("%s: %w: %w", shown(e.Target), errRejected, was.Err)}
			}
		}
	}
	return nil
}

// of reports whether an effect is the one that was refused.
func (x Rejection) of(e *Effect) bool { return x.About(e) && value.Same(x.Effect.Patch, e.Patch) }

// About reports whether an effect is for the same rule and object as what was refused,
// whatever it writes.
func (x Rejection) About(e *Effect) bool {
	was := x.Effect
	return was.Rule == e.Rule && was.Verb == e.Verb && was.Target == e.Target
}
