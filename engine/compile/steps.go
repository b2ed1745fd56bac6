package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// steps compiles the steps of a pipeline.
type steps struct {
	// outer knows no candidate, inner knows all parts of one, which have names.
	outer, inner *scope
	names        []string
	// ask compiles a call of a builtin.
	ask func(outer, inner *scope, q *question) *plan.Ask
}

// compile compiles one step; nil when it is none. Its dependencies are kept
// apart.
func (ss steps) compile(doc *v1alpha1.SelectStep) *plan.Step {
	if n := kindsOfStep(doc); n != 1 {
		ss.outer.problems.Hintf(doc.Pos, "filter, call, score or prefer", "a step says one thing, this says %d", n)
		return nil
	}
	n := ss.outer.node.Part(analyze.Step, firstSet(doc.Filter, doc.Score, doc.Name, doc.Call, doc.Prefer).Value, doc.Pos)
	ss.outer, ss.inner = ss.outer.in(n), ss.inner.in(n)
	step := &plan.Step{Pos: doc.Pos, When: ss.outer.typed(doc.When, cel.BoolType)}
	switch {
	case doc.Filter.Set():
		step.Kind, step.Name = plan.Filter, doc.Filter.Value
		ss.judged(step, doc.Keep, "keep", doc.Pos, cel.BoolType)
	case doc.Call.Set():
		step.Kind, step.Name = plan.Query, firstOf(doc.Name.Value, doc.Call.Value)
		step.Ask = ss.ask(ss.outer, ss.inner, &question{
			call: doc.Call, with: doc.With, candidate: doc.Candidate, onError: doc.OnError, at: doc.Pos, scores: true,
		})
	case doc.Score.Set():
		step.Kind, step.Name = plan.Score, doc.Score.Value
		ss.points(step, doc)
	case doc.Prefer.Set():
		step.Kind, step.Name = plan.Prefer, firstOf(doc.Name.Value, "not preferred")
		ss.judged(step, doc.Prefer, "prefer", doc.Pos, cel.IntType)
	}
	return step
}

func kindsOfStep(doc *v1alpha1.SelectStep) (n int) {
	for _, t := range []v1alpha1.Text{doc.Filter, doc.Call, doc.Score, doc.Prefer} {
		if t.Set() {
			n++
		}
	}
	return n
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// judged compiles an expression about each candidate.
func (ss steps) judged(step *plan.Step, text v1alpha1.Text, field string, at document.Position, want *cel.Type) {
	ss.needs(text, field, at)
	if p := ss.inner.typed(text, want); p != nil {
		step.Expression, step.Stage = p, analyze.StageOf(p, ss.names)
	}
}

// points compiles what a step adds to the score, per candidate or per group.
func (ss steps) points(step *plan.Step, doc *v1alpha1.SelectStep) {
	if !doc.GroupBy.Set() {
		ss.judged(step, doc.Points, "points", doc.Pos, cel.IntType)
		return
	}
	ss.needs(doc.Points, "points", doc.Pos)
	if step.GroupBy = ss.inner.program(doc.GroupBy); step.GroupBy == nil {
		return
	}
	step.GroupOwn = analyze.Own(step.GroupBy, ss.names)
	const members = "members"
	s := ss.outer.with(members, cel.ListOf(ss.member()), ss.memberFlow(), doc.Pos)
	if step.Expression = s.typed(doc.Points, cel.IntType); step.Expression != nil {
		step.Fold = analyze.FoldOf(step.Expression, members)
	}
}

// member returns the type of a member of a group: a map of the parts of a candidate by
// name.
func (ss steps) member() *cel.Type {
	types := make([]*cel.Type, len(ss.names))
	for i, name := range ss.names {
		types[i] = ss.inner.env.TypeOfName(name)
	}
	return ss.inner.env.Record(ss.names, types)
}

// memberFlow says where the members of a group come from: each holds the parts
// of a candidate by name.
func (ss steps) memberFlow() *analyze.Flow {
	parts := make([]*analyze.Flow, len(ss.names))
	for i, name := range ss.names {
		parts[i] = ss.inner.flow(name)
	}
	return analyze.ListOf(analyze.ListOf(analyze.Either(parts...)))
}

func (ss steps) needs(t v1alpha1.Text, field string, at document.Position) {
	if !t.Set() {
		ss.outer.problems.Errorf(at, "the step needs %s", field)
	}
}
