package eval

import (
	"context"
	"errors"
	"time"

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

// choosing runs the select of a rule.
type choosing struct{ run *ruleRun }

// selection chooses a candidate and does what follows from it.
func (c choosing) selection(a *plan.Select, f *frame) error {
	outer := f.extend()
	outer.push("claimed", value.NewList(append([]value.Value(nil), c.run.claimed...)))
	in := selection.Input{Select: a, Scope: outer, Meter: c.run.ev.meter, Ask: c.ask, Details: c.run.ev.in.Details != nil}
	if c.run.ev.in.Shared != nil {
		in.Cache = &c.run.ev.in.Shared.selections
	}
	outcome, err := selection.Run(c.run.ev.meter.Parent(), in)
	if err != nil {
		return asked(err, outer)
	}
	summary, err := c.summary(a, outcome, f)
	c.noteSelection(outcome, summary)
	if err != nil {
		return err
	}
	if err := c.together(a, outcome, f, summary); err != nil {
		return err
	}
	if len(outcome.Winners) == 0 {
		c.run.ev.decision.Unselected = true
		c.askAgain(outcome)
		inner := f.extend()
		inner.push("summary", value.OfString(summary))
		return acting(c).all(a.Otherwise, inner)
	}
	c.run.ev.meter.Grow(len(outcome.Winners) - 1)
	return c.won(in, outcome, outer, summary)
}

// askAgainAfter is the time until a call that left no candidate is made again, the longest
// back-off of one that fails. No watch reports that its answer would differ.
const askAgainAfter = time.Minute

func (c choosing) askAgain(o *selection.Outcome) {
	if o.Refused {
		c.run.ev.decision.Refused = true
		c.run.ev.noteFlip(c.run.ev.in.Now.Add(askAgainAfter))
	}
}

// won claims and confirms all winners, and does with each what follows.
func (c choosing) won(in selection.Input, o *selection.Outcome, outer *frame, summary string) error {
	for i := range o.Winners {
		won := c.winner(in.Select, &o.Winners[i], outer)
		if err := c.claim(in.Select, won); err != nil {
			return err
		}
		if in.Select.Confirm == nil {
			continue
		}
		if err := selection.Confirm(c.run.ev.meter.Parent(), in, in.Select.Confirm, won); err != nil {
			return asked(err, won)
		}
	}
	for i := range o.Winners {
		won := c.winner(in.Select, &o.Winners[i], outer)
		won.push("score", value.OfInt(o.Winners[i].Score))
		won.push("summary", value.OfString(summary))
		if err := acting(c).all(in.Select.Then, won); err != nil {
			return err
		}
	}
	return nil
}

// winner is the scope of what is done with a winner: its parts as they are now.
func (c choosing) winner(a *plan.Select, w *selection.Winner, outer *frame) *frame {
	won := outer.extend()
	for i, name := range a.Names {
		won.push(name, c.run.ev.refresh(w.Values[i]))
	}
	return won
}

// together does what is done once with all winners.
func (c choosing) together(a *plan.Select, o *selection.Outcome, f *frame, summary string) error {
	if len(a.Together) == 0 {
		return nil
	}
	names, taken := value.NamesOf(a.Names...), make([]value.Value, len(o.Winners))
	for i := range o.Winners {
		taken[i] = names.Map(o.Winners[i].Values...)
	}
	inner := f.extend()
	inner.push(plan.Taken, value.NewList(taken))
	inner.push("summary", value.OfString(summary))
	return acting(c).all(a.Together, inner)
}

// asked lets a failed question say what to do.
func asked(err error, f *frame) error {
	if ask, ok := errors.AsType[*selection.AskError](err); ok && len(ask.Ask.OnError) > 0 {
		return &askFailure{AskError: ask, frame: f}
	}
	return err
}

func (x acting) all(actions []plan.Action, f *frame) error {
	for _, a := range actions {
		if err := x.act(a, f); err != nil {
			return err
		}
	}
	return nil
}

// summary is the policy's text about the candidates, with what was excluded.
func (c choosing) summary(a *plan.Select, o *selection.Outcome, f *frame) (string, error) {
	inner := f.extend()
	inner.push("total", value.OfInt(int64(o.Total)))
	begin, err := c.run.ev.text(a.Summary, inner)
	return o.Summary(begin), err
}

// claim takes something from the items after this one. It stays taken if
// what follows fails: nobody knows then whether it has been used.
func (c choosing) claim(a *plan.Select, f *frame) error {
	if a.Claim == nil {
		return nil
	}
	v, err := a.Claim.Eval(f, c.run.ev.meter)
	if err != nil {
		return err
	}
	if v = value.Unwrap(v); v != nil {
		c.run.claimed = append(c.run.claimed, v)
	}
	return nil
}

// ask puts a question to whoever answers, and records it.
func (c choosing) ask(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	if c.run.ev.in.Answers == nil {
		return nil, errors.New("nobody is there to answer " + request.Query)
	}
	response, err := c.run.ev.in.Answers.Answer(ctx, request)
	c.run.ev.decision.Calls = append(c.run.ev.decision.Calls, Call{Rule: c.run.rule.Name, Request: request, Response: response, Err: err})
	return response, err
}

func (c choosing) noteSelection(o *selection.Outcome, summary string) {
	if o.Details != nil {
		c.run.details.Selections = append(c.run.details.Selections, SelectionDetails{Item: c.run.current, Summary: summary, Details: o.Details})
	}
}
