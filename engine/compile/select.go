package compile

import (
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// selection checks a select: the lists that candidates come from, every step
// of the pipeline, and what is done with the winner.
func (b *builder) selection(s *scope, sel *v1alpha1.SelectAction) {
	deps := newDeps()
	if len(sel.Candidates) == 0 {
		b.problems.Hintf(sel.Pos, "candidates: [{as: node, in: variables.nodes}]", "a select needs candidates")
		return
	}
	outer := s.with(b, "total", cel.IntType, nil, sel.Pos)
	b.template(outer, sel.Summary, &deps)
	inner := s.with(b, "claimed", cel.ListOf(cel.DynType), nil, sel.Pos)
	for i := range sel.Candidates {
		if inner = b.candidates(inner, &sel.Candidates[i], &deps); inner == nil {
			return
		}
	}
	for i := range sel.Pipeline {
		b.step(s, inner, &sel.Pipeline[i], &deps)
	}
	for _, o := range sel.OrderBy {
		b.program(inner, o, &deps)
	}
	b.program(inner, sel.Claim, &deps)
	if sel.Confirm != nil {
		b.call(sel.Confirm.Call)
		b.templateNode(inner, mapping(sel.Confirm.With, sel.Confirm.Pos), &deps)
		b.actions(s.with(b, "error.message", cel.StringType, nil, sel.Pos), sel.Confirm.OnError)
	}
	b.actions(inner, sel.Then)
	b.actions(s.with(b, "summary", cel.StringType, nil, sel.Pos), sel.Otherwise)
}

func (b *builder) candidates(s *scope, c *v1alpha1.Candidate, deps *plan.Deps) *scope {
	if !b.identifier(c.As, "candidate", map[string]bool{}, c.Pos) {
		return nil
	}
	in, flow := b.alias(s, c.In, deps)
	if in == nil {
		if !c.In.Set() {
			b.problems.Errorf(c.Pos, "a candidate needs in: the list it comes from")
		}
		return nil
	}
	b.counted(flow, deps)
	if !cel.IsList(in.Type()) && !cel.IsDyn(in.Type()) {
		b.problems.Errorf(c.In.Pos(), "in needs a list, this gives %s", cel.TypeName(in.Type()))
		return nil
	}
	inner := s.with(b, c.As.Value, elemType(in.Type()), flow.Elem(), c.Pos)
	for _, o := range c.OrderBy {
		b.program(inner, o, deps)
	}
	return inner
}

// step checks one step; outer knows no candidate.
func (b *builder) step(outer, inner *scope, step *v1alpha1.SelectStep, deps *plan.Deps) {
	b.wantType(b.program(outer, step.When, deps), step.When, cel.BoolType)
	switch {
	case step.Filter.Set():
		b.needs(step.Keep, "keep", step.Pos)
		b.wantType(b.program(inner, step.Keep, deps), step.Keep, cel.BoolType)
	case step.Call.Set():
		b.call(step.Call)
		b.templateNode(outer, mapping(step.With, step.Pos), deps)
		b.templateNode(inner, mapping(step.Candidate, step.Pos), deps)
		b.actions(outer.with(b, "error.message", cel.StringType, nil, step.Pos), step.OnError)
	case step.Score.Set():
		b.needs(step.Points, "points", step.Pos)
		points := inner
		if step.GroupBy.Set() {
			b.program(inner, step.GroupBy, deps)
			points = inner.with(b, "members", cel.ListOf(cel.DynType), nil, step.Pos)
		}
		b.wantType(b.program(points, step.Points, deps), step.Points, cel.IntType)
	case step.Prefer.Set():
		b.wantType(b.program(inner, step.Prefer, deps), step.Prefer, cel.IntType)
	default:
		b.problems.Hintf(step.Pos, "filter, call, score or prefer", "a step says nothing")
	}
}

func (b *builder) needs(t v1alpha1.Text, field string, at document.Position) {
	if !t.Set() {
		b.problems.Errorf(at, "the step needs %s", field)
	}
}

func (b *builder) call(t v1alpha1.Text) {
	if b.options.Calls[t.Value] {
		return
	}
	var known []string
	for name := range b.options.Calls {
		known = append(known, name)
	}
	b.problems.Hintf(t.Pos(), document.DidYouMean(t.Value, known), "no builtin %q can be called", t.Value)
}
