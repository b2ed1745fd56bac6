package rego

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// ErrUndefined says that a query has no result for an input.
var ErrUndefined = errors.New("undefined for this input")

// turn is held by the one evaluation that runs. What an evaluation allocates
// within its limits is up to hundreds of megabytes in the worst case, and
// memory is what a process cannot take back from a running one: so that bound
// must not be multiplied by the number of workers.
var turn = make(chan struct{}, 1)

func wait(ctx context.Context) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func done() { <-turn }

// Eval asks the query about an input. It waits for its turn as long as ctx
// allows, and then runs for at most MaxTime; now is the only time that it
// may see. What it cost is counted by the meter: stepCost for each step, and
// one for each node of the input and the result. Errors are of type
// *expr.Failure and tell no values of the input.
func (q *Query) Eval(ctx context.Context, meter *expr.Meter, now time.Time, input value.Value) (value.Value, error) {
	in, nodes, err := toTerm(input)
	if err != nil {
		return nil, q.fail(nil, err)
	}
	if err := wait(ctx); err != nil {
		return nil, q.fail(nil, err)
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	l := &limiter{ctx: ctx}
	out, err := q.run(l, now, in)
	over := meter.Spend(uint64(l.steps)*stepCost + uint64(nodes))
	switch {
	case err != nil:
		return nil, err
	case over != nil:
		return nil, q.fail(nil, over)
	}
	return q.settle(meter, out)
}

// settle makes a value of the result and counts it.
func (q *Query) settle(meter *expr.Meter, out *ast.Term) (value.Value, error) {
	v, err := fromTerm(out)
	if err == nil {
		err = meter.Build(v)
	}
	if err == nil {
		err = meter.Spend(uint64(value.Weight(v)))
	}
	if err != nil {
		return nil, q.fail(nil, fmt.Errorf("%s: %w", q.text, err))
	}
	return v, nil
}

// run evaluates, and gives the one result there is.
func (q *Query) run(l *limiter, now time.Time, in *ast.Term, tracers ...topdown.QueryTracer) (out *ast.Term, err error) {
	defer func() { // a bug of the evaluator fails the item, not the process
		if r := recover(); r != nil {
			out, err = nil, q.fail(nil, fmt.Errorf("%s: the evaluator of Rego failed", q.text))
		}
	}()
	results, err := q.iterate(l, now, in, tracers)
	switch {
	case l.why != nil:
		return nil, q.fail(l.at, fmt.Errorf("%s: %w", q.text, l.why))
	case err != nil:
		return nil, q.failRun(err)
	case len(results) == 0:
		return nil, q.fail(nil, fmt.Errorf("%s is %w", q.text, ErrUndefined))
	}
	return results[0], nil
}

// iterate runs the evaluator. An error of a function is an error here, where
// Rego would go on as if the expression had not held: a decision must not be
// taken because something could not be computed.
func (q *Query) iterate(l *limiter, now time.Time, in *ast.Term, tracers []topdown.QueryTracer) (results []*ast.Term, err error) {
	txn, err := q.library.store.NewTransaction(l.ctx)
	if err != nil {
		return nil, err
	}
	defer q.library.store.Abort(l.ctx, txn)
	run := topdown.NewQuery(q.body).
		WithCompiler(q.library.compiler).WithQueryCompiler(q.compiled).
		WithStore(q.library.store).WithTransaction(txn).
		WithBuiltins(builtins).WithStrictBuiltinErrors(true).
		WithCancel(l).WithVirtualCache(cache{topdown.NewVirtualCache(), l}).
		WithInput(in).WithTime(now)
	for _, t := range tracers {
		run = run.WithQueryTracer(t)
	}
	err = run.Iter(l.ctx, func(r topdown.QueryResult) error {
		results = append(results, r[answer])
		return nil
	})
	return results, err
}

// fail makes a failure at a place of a module, or else at the query's.
func (q *Query) fail(loc *ast.Location, err error) error {
	at := q.library.sources.at(loc)
	if at == (document.Position{}) {
		at = q.at
	}
	return &expr.Failure{At: at, Err: err}
}

// failRun words an error of the evaluator.
func (q *Query) failRun(err error) error {
	e, ok := errors.AsType[*topdown.Error](err)
	if !ok {
		return q.fail(nil, fmt.Errorf("%s cannot be evaluated", q.text))
	}
	return q.fail(e.Location, fmt.Errorf("%s: %s", q.text, masked(e)))
}
