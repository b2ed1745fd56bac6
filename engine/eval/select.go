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
	in := selection.Input{Select: a, Scope: outer, Meter: r.ev.meter, Ask: r.ask, Details: r.ev.in.Details != nil}
	if r.ev.in.Shared != nil {
		in.Cache = &r.ev.in.Shared.selections
	}
	outcome, err := selection.Run(r.ev.meter.Parent(), in)
	if err != nil {
		return asked(err, outer)
	}
	summary, err := r.summary(a, outcome, f)
	r.noteSelection(outcome, summary)
	if err != nil {
		return err
	}
	if err := r.together(a, outcome, f, summary); err != nil {
		return err
	}
	if len(outcome.Winners) == 0 {
		r.ev.decision.Unselected = true
		inner := f.extend()
		inner.push("summary", value.OfString(summary))
		return r.all(a.Otherwise, inner)
	}
	r.ev.meter.Grow(len(outcome.Winners) - 1)
	return r.won(in, outcome, outer, summary)
}

// won claims and confirms all winners, and does with each what follows.
func (r *ruleRun) won(in selection.Input, o *selection.Outcome, outer *frame, summary string) error {
	for i := range o.Winners {
		won := r.winner(in.Select, &o.Winners[i], outer)
		if err := r.claim(in.Select, won); err != nil {
			return err
		}
		if in.Select.Confirm == nil {
			continue
		}
		if err := selection.Confirm(r.ev.meter.Parent(), in, in.Select.Confirm, won); err != nil {
			return asked(err, won)
		}
	}
	for i := range o.Winners {
		won := r.winner(in.Select, &o.Winners[i], outer)
		won.push("score", value.OfInt(o.Winners[i].Score))
		won.push("summary", value.OfString(summary))
		if err := r.all(in.Select.Then, won); err != nil {
			return err
		}
	}
	return nil
}

// winner is the scope of what is done with a winner: its parts as they are now.
func (r *ruleRun) winner(a *plan.Select, w *selection.Winner, outer *frame) *frame {
	won := outer.extend()
	for i, name := range a.Names {
		won.push(name, r.ev.refresh(w.Values[i]))
	}
	return won
}

// together does what is done once with all winners.
func (r *ruleRun) together(a *plan.Select, o *selection.Outcome, f *frame, summary string) error {
	if len(a.Together) == 0 {
		return nil
	}
	names, taken := value.NamesOf(a.Names...), make([]value.Value, len(o.Winners))
	for i := range o.Winners {
		taken[i] = names.Map(o.Winners[i].Values...)
	}
	inner := f.extend()
	inner.push("taken", value.NewList(taken))
	inner.push("summary", value.OfString(summary))
	return r.all(a.Together, inner)
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
	begin, err := r.ev.text(a.Summary, inner)
	return o.Summary(begin), err
}

// claim takes something from the items after this one. It stays taken if
// what follows fails: nobody knows then whether it has been used.
func (r *ruleRun) claim(a *plan.Select, f *frame) error {
	if a.Claim == nil {
		return nil
	}
	v, err := a.Claim.Eval(f, r.ev.meter)
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
	if r.ev.in.Answers == nil {
		return nil, errors.New("nobody is there to answer " + request.Query)
	}
	response, err := r.ev.in.Answers.Answer(ctx, request)
	r.ev.decision.Calls = append(r.ev.decision.Calls, Call{Rule: r.rule.Name, Request: request, Response: response, Err: err})
	return response, err
}

func (r *ruleRun) noteSelection(o *selection.Outcome, summary string) {
	if o.Details != nil {
		r.details.Selections = append(r.details.Selections, SelectionDetails{Item: r.current, Summary: summary, Details: o.Details})
	}
}
