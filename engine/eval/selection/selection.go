package selection

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Input is what a selection depends on.
type Input struct {
	Select *plan.Select
	// Scope returns the names that are no candidate's.
	Scope expr.Scope
	Meter *expr.Meter
	// Ask asks a builtin.
	Ask func(context.Context, *expr.Request) (*expr.Response, error)
	// Cache keeps what is known of candidates; nil selects plainly.
	Cache *Cache
	// Details asks what became of every candidate: such a selection is a plain
	// one.
	Details bool
}

// Outcome is what a selection came to.
type Outcome struct {
	// Total is the number of candidates.
	Total int
	// Excluded is how many each step dropped, for the steps that dropped any,
	// in order.
	Excluded []Exclusion
	// Refused is true if a call dropped candidates.
	Refused bool
	// Winners are those that were chosen, the best first; without a take at most one.
	Winners []Winner
	Details *Details
}

// Winner is a candidate that was chosen.
type Winner struct {
	// Values holds the item of each level.
	Values []value.Value
	Score  int64
}

// Exclusion is how many candidates a step dropped.
type Exclusion struct {
	Step  string `json:"step"`
	Count int    `json:"count"`
}

// Summary is a text about the outcome: how it begins is the policy's, then
// follows what each step dropped.
func (o *Outcome) Summary(begin string) string {
	size := len(begin)
	for i := range o.Excluded {
		size += len("; 1234567890 excluded: ") + len(o.Excluded[i].Step)
	}
	out := append(make([]byte, 0, size), begin...)
	for i := range o.Excluded {
		out = strconv.AppendInt(append(out, "; "...), int64(o.Excluded[i].Count), 10)
		out = append(append(out, " excluded: "...), o.Excluded[i].Step...)
	}
	return string(out)
}

// drop notes how many candidates a step dropped.
func (o *Outcome) drop(step *plan.Step, n int) {
	o.Refused = o.Refused || n > 0 && step.Kind == plan.Query
	o.exclude(step.Name, n)
}

func (o *Outcome) exclude(step string, n int) {
	if n > 0 {
		o.Excluded = append(o.Excluded, Exclusion{Step: step, Count: n})
	}
}

// AskError reports that a call of a builtin failed; the call's onError covers
// it. An error made before the call, while its request was built, is none.
type AskError struct {
	Ask *plan.Ask
	Err error
}

// Error returns the cause.
func (e *AskError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AskError) Unwrap() error { return e.Err }

// Run selects.
func Run(ctx context.Context, in Input) (*Outcome, error) {
	if in.Cache != nil && in.Select.Shared && !in.Details {
		return runStaged(ctx, in)
	}
	return runPlain(ctx, in)
}

// Confirm asks about the winner.
func Confirm(ctx context.Context, in Input, ask *plan.Ask, scope expr.Scope) error {
	with, err := fields(ask.With, scope, in.Meter)
	if err != nil {
		return err
	}
	candidate, err := fields(ask.Candidate, scope, in.Meter)
	if err != nil {
		return err
	}
	_, err = in.Ask(ctx, &expr.Request{Query: ask.Query, With: with, Candidates: expr.CandidatesOf(candidate)})
	if err != nil {
		return &AskError{Ask: ask, Err: &expr.Failure{At: ask.Pos, Err: err}}
	}
	return nil
}

// score asks about candidates; there is one verdict for each.
func (in *Input) score(ctx context.Context, ask *plan.Ask, with *value.Map, candidates expr.Candidates) ([]expr.Verdict, error) {
	answer, err := in.Ask(ctx, &expr.Request{Query: ask.Query, With: with, Candidates: candidates})
	if err == nil && len(answer.Verdicts) != candidates.Len() {
		err = fmt.Errorf("%s judged %d candidates, not the %d it was asked about", ask.Query, len(answer.Verdicts), candidates.Len())
	}
	if err != nil {
		return nil, &AskError{Ask: ask, Err: &expr.Failure{At: ask.Pos, Err: err}}
	}
	return answer.Verdicts, nil
}

// on reports whether a step applies at all.
func (in *Input) on(step *plan.Step) (bool, error) {
	if step.When == nil {
		return true, nil
	}
	v, err := step.When.Eval(in.Scope, in.Meter)
	return err == nil && value.IsTrue(v), err
}

// fields evaluates a template that makes the fields of a request.
func fields(t *cel.Template, scope expr.Scope, meter *expr.Meter) (*value.Map, error) {
	if t == nil {
		return value.Empty, nil
	}
	v, err := t.Build(scope, meter)
	if err != nil {
		return nil, err
	}
	m, ok := value.Written(v).(*value.Map)
	if !ok {
		return nil, &expr.Failure{At: t.Pos(), Err: errors.New("a request is made of fields")}
	}
	return m, nil
}

// row is a scope in which the names of a candidate stand before all others.
type row struct {
	expr.Scope
	names  []string
	values []value.Value
}

// ResolveName implements expr.Scope.
func (r *row) ResolveName(name string) (any, bool) {
	for i, n := range r.names {
		if n == name {
			return r.values[i], true
		}
	}
	return r.Scope.ResolveName(name)
}

// integer returns the number of a result.
func integer(p *cel.Program, v value.Value) (int64, error) {
	n, ok := value.Int(v)
	if !ok {
		return 0, &expr.Failure{At: p.Pos(), Err: fmt.Errorf("this gives %s, not a whole number", v.Type().TypeName())}
	}
	return n, nil
}

// truth returns the truth of a result.
func truth(p *cel.Program, v value.Value) (bool, error) {
	b, ok := v.Value().(bool)
	if !ok {
		return false, &expr.Failure{At: p.Pos(), Err: fmt.Errorf("this gives %s, not true or false", v.Type().TypeName())}
	}
	return b, nil
}

// add adds points to a score.
func add(step *plan.Step, score, points int64) (int64, error) {
	sum := score + points
	if (points > 0) != (sum > score) && points != 0 {
		return 0, &expr.Failure{At: step.Pos, Err: errors.New("the score does not fit into 64 bits")}
	}
	return sum, nil
}
