package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// selection compiles a select: the lists that candidates come from, every step
// of the pipeline, and what is done with the winner.
func (b *builder) selection(s *scope, sel *v1alpha1.SelectAction) plan.Action {
	if len(sel.Candidates) == 0 {
		b.problems.Hintf(sel.Pos, "candidates: [{as: node, in: variables.nodes}]", "a select needs candidates")
		return nil
	}
	c := selectionBuilder{builder: b, outer: s.with(b, "claimed", cel.ListOf(cel.DynType), nil, sel.Pos)}
	c.out = &plan.Select{Pos: sel.Pos, ID: b.selects, Shared: true}
	b.selects++
	c.inner = c.outer
	for i := range sel.Candidates {
		if !c.level(&sel.Candidates[i]) {
			return nil
		}
	}
	c.out.Summary = c.template(s.with(b, "total", cel.IntType, nil, sel.Pos), sel.Summary)
	for i := range sel.Pipeline {
		c.step(&sel.Pipeline[i])
	}
	for _, o := range sel.OrderBy {
		c.out.OrderBy = append(c.out.OrderBy, c.program(c.inner, o))
	}
	c.out.Claim = c.program(c.inner, sel.Claim)
	c.outcome(s, sel)
	return c.out
}

// selectionBuilder holds one select while it is compiled.
type selectionBuilder struct {
	*builder
	out *plan.Select
	// outer knows no candidate, inner knows all parts of one.
	outer, inner *scope
}

// level compiles one of the nested lists.
func (b *selectionBuilder) level(c *v1alpha1.Candidate) bool {
	if !b.identifier(c.As, "candidate", taken(b.out.Names), c.Pos) {
		return false
	}
	in, flow := b.alias(b.inner, c.In)
	if in == nil {
		if !c.In.Set() {
			b.problems.Errorf(c.Pos, "a candidate needs in: the list it comes from")
		}
		return false
	}
	b.inner.node.Reads.Presence(flow)
	if !cel.IsList(in.Type()) && !cel.IsDyn(in.Type()) {
		b.problems.Errorf(c.In.Pos(), "in needs a list, this gives %s", cel.TypeName(in.Type()))
		return false
	}
	b.out.Shared = b.out.Shared && (len(b.out.Names) == 0 || analyze.Own(in, b.out.Names))
	b.inner = b.inner.with(b.builder, c.As.Value, elemType(in.Type()), flow.Elem(), c.Pos)
	b.out.Names = append(b.out.Names, c.As.Value)
	l := plan.Level{As: c.As.Value, In: in}
	for _, o := range c.OrderBy {
		if p := b.program(b.inner, o); p != nil {
			l.OrderBy = append(l.OrderBy, p)
			b.out.Shared = b.out.Shared && analyze.Own(p, b.out.Names)
		}
	}
	b.out.Levels = append(b.out.Levels, l)
	return true
}

func taken(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// step compiles one step of the pipeline.
func (b *selectionBuilder) step(doc *v1alpha1.SelectStep) {
	if n := kinds(doc); n != 1 {
		b.problems.Hintf(doc.Pos, "filter, call, score or prefer", "a step says one thing, this says %d", n)
		return
	}
	b = b.part(doc)
	step := plan.Step{Pos: doc.Pos, When: b.program(b.outer, doc.When)}
	b.wantType(step.When, doc.When, cel.BoolType)
	switch {
	case doc.Filter.Set():
		step.Kind, step.Name = plan.Filter, doc.Filter.Value
		b.judged(&step, doc.Keep, "keep", doc.Pos, cel.BoolType)
	case doc.Call.Set():
		step.Kind, step.Name = plan.Query, firstOf(doc.Name.Value, doc.Call.Value)
		step.Ask = b.ask(b.outer, doc.Call, doc.With, doc.Candidate, doc.OnError, doc.Pos, true)
	case doc.Score.Set():
		step.Kind, step.Name = plan.Score, doc.Score.Value
		b.points(&step, doc)
	case doc.Prefer.Set():
		step.Kind, step.Name = plan.Prefer, firstOf(doc.Name.Value, "not preferred")
		b.judged(&step, doc.Prefer, "prefer", doc.Pos, cel.IntType)
	}
	b.out.Steps = append(b.out.Steps, step)
}

// part returns a builder for one step, whose dependencies are kept apart.
func (b *selectionBuilder) part(doc *v1alpha1.SelectStep) *selectionBuilder {
	n := b.outer.node.Part(analyze.Step, firstSet(doc.Filter, doc.Score, doc.Name, doc.Call, doc.Prefer).Value, doc.Pos)
	out := *b
	out.outer, out.inner = b.outer.in(n), b.inner.in(n)
	return &out
}

func kinds(doc *v1alpha1.SelectStep) (n int) {
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
func (b *selectionBuilder) judged(step *plan.Step, text v1alpha1.Text, field string, at document.Position, want *cel.Type) {
	b.needs(text, field, at)
	p := b.program(b.inner, text)
	b.wantType(p, text, want)
	if p != nil {
		step.Expression, step.Stage = p, analyze.StageOf(p, b.out.Names)
	}
}

func (b *selectionBuilder) points(step *plan.Step, doc *v1alpha1.SelectStep) {
	if !doc.GroupBy.Set() {
		b.judged(step, doc.Points, "points", doc.Pos, cel.IntType)
		return
	}
	b.needs(doc.Points, "points", doc.Pos)
	if step.GroupBy = b.program(b.inner, doc.GroupBy); step.GroupBy == nil {
		return
	}
	step.GroupOwn = analyze.Own(step.GroupBy, b.out.Names)
	members := b.outer.with(b.builder, "members", cel.ListOf(cel.DynType), b.memberFlow(), doc.Pos)
	step.Expression = b.program(members, doc.Points)
	b.wantType(step.Expression, doc.Points, cel.IntType)
	if step.Expression != nil {
		step.Fold = analyze.FoldOf(step.Expression, "members")
	}
}

// memberFlow says where the members of a group come from: each holds the parts
// of a candidate by name.
func (b *selectionBuilder) memberFlow() *analyze.Flow {
	parts := make([]*analyze.Flow, len(b.out.Names))
	for i, name := range b.out.Names {
		parts[i] = b.inner.flows[name]
	}
	return analyze.ListOf(analyze.ListOf(analyze.Either(parts...)))
}

func (b *builder) needs(t v1alpha1.Text, field string, at document.Position) {
	if !t.Set() {
		b.problems.Errorf(at, "the step needs %s", field)
	}
}

// outcome compiles what is done with a winner, and without one.
func (b *selectionBuilder) outcome(s *scope, sel *v1alpha1.SelectAction) {
	won := b.inner.with(b.builder, "score", cel.IntType, nil, sel.Pos).with(b.builder, "summary", cel.StringType, nil, sel.Pos)
	if c := sel.Confirm; c != nil {
		b.out.Confirm = b.ask(b.inner, c.Call, c.With, c.Candidate, c.OnError, c.Pos, false)
	}
	b.out.Then = b.actions(won, sel.Then)
	b.out.Otherwise = b.actions(s.with(b.builder, "summary", cel.StringType, nil, sel.Pos), sel.Otherwise)
	if len(sel.Then) == 0 {
		b.problems.Warnf(sel.Pos, "nothing is done with the winner; then: says what")
	}
}
