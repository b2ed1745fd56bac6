package eval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Rejection is a write that the API server has refused because of its content, with its
// error. If it joins the writes of several items, the one that caused it is not known: they are
// written one by one.
type Rejection struct {
	Effect *Effect
	Err    error
	// Any says that it was refused in several forms: it differs from one evaluation to the
	// next, by the time or by what is remembered.
	Any bool
	// Lasting is true if the same write would be refused again in every state of the cluster.
	// It is not sent again until the item decides another write.
	Lasting bool
}

// errRejected says that an item wants what the API server has just refused. It passes: the
// write is tried again.
var errRejected = errors.New("the API server refuses it")

// rejected fails for an item that wants what was refused, from the first of some effects on.
// What the rules below see is as if it had never been wanted.
func (r *ruleRun) rejected(first int) error {
	if len(r.ev.in.Rejected) == 0 {
		return nil
	}
	for _, e := range r.ev.decision.Effects[first:] {
		for i, was := range r.ev.in.Rejected {
			if !was.of(e) {
				continue
			}
			r.ev.decision.Rejected = append(r.ev.decision.Rejected, i)
			if was.Lasting {
				return &expr.Failure{At: r.rule.Pos, Err: fmt.Errorf("%s: the API server refused it and is not asked again before it changes: %w", shown(e.Target), was.Err)}
			}
			return &expr.Failure{At: r.rule.Pos, Err: fmt.Errorf("%s: %w: %w", shown(e.Target), errRejected, was.Err)}
		}
	}
	return nil
}

// Joined reports whether the write was that of several items.
func (x Rejection) Joined() bool { return len(x.Effect.Also) > 0 }

// of reports whether an effect is the one that was refused.
func (x Rejection) of(e *Effect) bool {
	return x.About(e) && !x.Joined() && (x.Any || value.Same(x.Effect.Patch, e.Patch))
}

// Rejections are writes that the API server has refused.
type Rejections []Rejection

// Divide reports whether an effect is part of a refused write whose items are written one by
// one.
func (list Rejections) Divide(e *Effect) bool {
	return slices.ContainsFunc(list, func(x Rejection) bool {
		return x.Joined() && x.Effect.Target == e.Target && x.Effect.Subresource == e.Subresource
	})
}

// About reports whether an effect is for the same rule and object as what was refused,
// whatever it writes.
func (x Rejection) About(e *Effect) bool {
	was := x.Effect
	return was.Rule == e.Rule && was.Verb == e.Verb && was.Target == e.Target && was.Subresource == e.Subresource
}

// incomplete reports whether an object of the set whose children a rule deletes was refused:
// what it takes the place of stays.
func (ev *evaluation) incomplete(r *plan.Rule) bool {
	return r.Prunes && slices.ContainsFunc(ev.in.Rejected, func(x Rejection) bool {
		return x.Effect.Verb == VerbApply && ev.in.Policy.Rules[x.Effect.Rule].Child == r.Child
	})
}
