package rego

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// ErrUndefined reports that a query has no result for an input.
var ErrUndefined = errors.New("undefined for this input")

// Eval asks the query about an input. now is the only time that it may see. What
// it cost is counted by the meter: stepCost for each step, and one for each node
// of the input and the result. Errors are of type *expr.Failure and tell no
// values of the input.
func (q *Query) Eval(ctx context.Context, meter *expr.Meter, now time.Time, input value.Value) (value.Value, error) {
	a, err := q.ask(ctx, question{text: q.name, now: now}, input)
	if err != nil {
		return nil, q.fail(document.Position{}, err)
	}
	if over := meter.Spend(a.steps*stepCost + uint64(a.nodes)); over != nil && a.err == nil {
		return nil, q.fail(document.Position{}, over)
	}
	if a.err != nil {
		return nil, q.fail(a.at, a.err)
	}
	if err = meter.Build(a.value); err == nil {
		err = meter.Spend(uint64(value.Weight(a.value)))
	}
	if err != nil {
		return nil, q.fail(document.Position{}, fmt.Errorf("%s: %w", q.text, err))
	}
	return a.value, nil
}

// answered is what became of a question.
type answered struct {
	value value.Value
	steps uint64
	// nodes is how many the input had.
	nodes int
	// err says why there is no value, at where; unmet is a test's last expression
	// that does not hold. Both are places in modules' texts.
	err       error
	at, unmet document.Position
}

// ask puts a question about an input to the evaluator. The error is the
// evaluator's own.
func (q *Query) ask(ctx context.Context, asked question, input value.Value) (*answered, error) {
	body, nodes, err := appendInput(appendQuestion(nil, asked), input)
	if err != nil {
		return nil, err
	}
	l := q.library
	text, err := l.do(ctx, &Request{ID: l.id, Modules: l.modules, Query: body})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.text, err)
	}
	if len(text) <= stepsSize {
		return nil, errMangled
	}
	a := &answered{steps: binary.BigEndian.Uint64(text), nodes: nodes}
	m := &message{rest: text[stepsSize:]}
	if m.tag() == tagTrue {
		a.value, err = readResult(m)
		return a, err
	}
	var f failure
	if err := json.Unmarshal(m.rest, &f); err != nil {
		return nil, errMangled
	}
	a.err, a.at, a.unmet = q.word(ctx, f), f.At, f.Unmet
	return a, nil
}

// word makes an error of a failure.
func (q *Query) word(ctx context.Context, f failure) error {
	switch f.Code {
	case codeUndefined:
		return fmt.Errorf("%s is %w", q.text, ErrUndefined)
	case codeSteps:
		return fmt.Errorf("%s: %w", q.text, errSteps)
	case codeLarge:
		return fmt.Errorf("%s: %w", q.text, value.ErrResultTooLarge)
	case codeStopped:
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", q.text, err)
		}
		return fmt.Errorf("%s: %w", q.text, expr.Late(maxLocal))
	}
	return fmt.Errorf("%s: %s", q.text, f.Message)
}

// fail makes a failure at a place in a module's text, or else at the query's.
func (q *Query) fail(in document.Position, err error) error {
	at, _ := q.library.at(in)
	if at == (document.Position{}) {
		at = q.at
	}
	return &expr.Failure{At: at, Err: err}
}
