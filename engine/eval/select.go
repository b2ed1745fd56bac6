package eval

import (
	"context"
	"errors"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// askFailure is a question to a builtin that failed and says itself what to
// do then; frame is the scope of that.
type askFailure struct {
	*selection.AskError
	frame *frame
}

// Unwrap returns the failed call.
func (f *askFailure) Unwrap() error { return f.AskError }

// selection chooses a candidate and does what follows from it.
func (r *ruleRun) selection(a *plan.Select, f *frame) error {
	outer := f.extend()
	outer.push("claimed", value.NewList(append([]value.Value(nil), r.claimed...)))
	in := selection.Input{Select: a, Scope: outer, Meter: r.meter, Ask: r.ask, Details: r.Details != nil}
	if r.Shared != nil {
		in.Cache = &r.Shared.selections
	}
	outcome, err := selection.Run(r.meter.Parent(), in)
	if err != nil {
		return asked(err, outer)
	}
	summary, err := r.summary(a, outcome, f)
	r.noteSelection(outcome, summary)
	if err != nil {
		return err
	}
	if outcome.Winner == nil {
		r.decision.Unselected = true
		inner := f.extend()
		inner.push("summary", value.OfString(summary))
		return r.all(a.Otherwise, inner)
	}
	won := outer.extend()
	for i, name := range a.Names {
		won.push(name, outcome.Winner[i])
	}
	if err := r.claim(a, won); err != nil {
		return err
	}
	if a.Confirm != nil {
		if err := selection.Confirm(r.meter.Parent(), in, a.Confirm, won); err != nil {
			return asked(err, won)
		}
	}
	won.push("score", value.OfInt(outcome.Score))
	won.push("summary", value.OfString(summary))
	return r.all(a.Then, won)
}

// asked lets a failed question say what to do.
func asked(err error, f *frame) error {
	if ask, ok := errors.AsType[*selection.AskError](err); ok && len(ask.Ask.OnError) > 0 {
		return &askFailure{AskError: ask, frame: f}
	}
	return err
}

func (r *ruleRun) all(actions []plan.Action, f *frame) error {
	for _, a := range actions {
		if err := r.act(a, f); err != nil {
			return err
		}
	}
	return nil
}

// summary is the policy's text about the candidates, with what was excluded.
func (r *ruleRun) summary(a *plan.Select, o *selection.Outcome, f *frame) (string, error) {
	inner := f.extend()
	inner.push("total", value.OfInt(int64(o.Total)))
	begin, err := r.text(a.Summary, inner)
	return o.Summary(begin), err
}

// claim takes something from the items after this one. It stays taken if
// what follows fails: nobody knows then whether it has been used.
func (r *ruleRun) claim(a *plan.Select, f *frame) error {
	if a.Claim == nil {
		return nil
	}
	v, err := a.Claim.Eval(f, r.meter)
	if err != nil {
		return err
	}
	if v = value.Unwrap(v); v != nil {
		r.claimed = append(r.claimed, v)
	}
	return nil
}

// ask puts a question to whoever answers, and records it.
func (r *ruleRun) ask(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	if r.Answers == nil {
		return nil, errors.New("nobody is there to answer " + request.Query)
	}
	response, err := r.Answers.Answer(ctx, request)
	r.decision.Calls = append(r.decision.Calls, Call{Rule: r.rule.Name, Request: request, Response: response, Err: err})
	return response, err
}

func (r *ruleRun) noteSelection(o *selection.Outcome, summary string) {
	if o.Details != nil {
		r.details.Selections = append(r.details.Selections, SelectionDetails{Item: r.current, Summary: summary, Details: o.Details})
	}
}
