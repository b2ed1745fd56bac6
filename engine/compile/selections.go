package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// selections compiles the selections of a policy.
type selections struct {
	queries []expr.Query
	count   int
}

// selection is a select while it is compiled: the lists that candidates come
// from, every step of the pipeline, and what is done with the winner.
type selection struct {
	out *plan.Select
	// outer knows no candidate, inner knows all parts of one.
	outer, inner *scope
	queries      []expr.Query
	actions      actionList
}

func (ss *selections) compile(s *scope, doc *v1alpha1.SelectAction, actions actionList) plan.Action {
	if len(doc.Candidates) == 0 {
		s.problems.Hintf(doc.Pos, "candidates: [{as: node, in: variables.nodes}]", "a select needs candidates")
		return nil
	}
	c := selection{outer: s.with("claimed", cel.ListOf(cel.DynType), nil, doc.Pos), queries: ss.queries, actions: actions}
	c.out = &plan.Select{Pos: doc.Pos, ID: ss.count, Shared: true}
	ss.count++
	c.inner = c.outer
	for i := range doc.Candidates {
		if !c.level(&doc.Candidates[i]) {
			return nil
		}
	}
	c.out.Summary = s.with("total", cel.IntType, nil, doc.Pos).template(doc.Summary)
	pipeline := steps{outer: c.outer, inner: c.inner, names: c.out.Names, ask: c.ask}
	for i := range doc.Pipeline {
		if step := pipeline.compile(&doc.Pipeline[i]); step != nil {
			c.out.Steps = append(c.out.Steps, *step)
		}
	}
	c.out.OrderBy = c.inner.order(doc.OrderBy)
	c.out.Take = pipeline.take(doc.Take)
	c.out.Claim = c.inner.program(doc.Claim)
	c.outcome(s, doc, pipeline)
	return c.out
}

// level compiles one of the nested lists.
func (c *selection) level(doc *v1alpha1.Candidate) bool {
	if !identifier(doc.As, "candidate", taken(c.out.Names), doc.Pos, c.inner.problems) {
		return false
	}
	if !doc.In.Set() {
		c.inner.problems.Errorf(doc.Pos, "a candidate needs in: the list it comes from")
		return false
	}
	in, flow := c.inner.list(doc.In, "in")
	if in == nil {
		return false
	}
	c.out.Shared = c.out.Shared && (len(c.out.Names) == 0 || analyze.Own(in, c.out.Names))
	form := formOf(c.inner, in).Item()
	c.inner = formed(c.inner.with(doc.As.Value, elemType(in.Type()), flow.Elem(), doc.Pos), doc.As.Value, form)
	c.out.Names = append(c.out.Names, doc.As.Value)
	l := plan.Level{As: doc.As.Value, In: in}
	for _, p := range c.inner.order(doc.OrderBy) {
		if p != nil {
			l.OrderBy = append(l.OrderBy, p)
			c.out.Shared = c.out.Shared && analyze.Own(p, c.out.Names)
		}
	}
	c.out.Levels = append(c.out.Levels, l)
	return true
}

func taken(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// outcome compiles what is done with a winner, and without one.
func (c *selection) outcome(s *scope, doc *v1alpha1.SelectAction, pipeline steps) {
	summary := func(s *scope) *scope { return s.with("summary", cel.StringType, nil, doc.Pos) }
	if call := doc.Confirm; call != nil {
		c.out.Confirm = c.ask(c.inner, c.inner, &question{
			call: call.Call, with: call.With, candidate: call.Candidate, onError: call.OnError, at: call.Pos,
		})
	}
	c.out.Together = pipeline.together(summary(s), doc, c.actions)
	c.out.Then = c.actions(summary(c.inner.with("score", cel.IntType, nil, doc.Pos)), doc.Then)
	c.out.Otherwise = c.actions(summary(s), doc.Otherwise)
	if len(doc.Then) == 0 && len(doc.Together) == 0 {
		s.problems.Reportf(document.SelectWithoutThen, doc.Pos, "", "nothing is done with the winner; then: says what")
	}
}

// ask compiles a call of a builtin about candidates. outer is the scope of what is
// sent once and of what is done when the call fails, inner that of a candidate.
func (c *selection) ask(outer, inner *scope, q *question) *plan.Ask {
	builtin := q.builtin(c.queries, outer.problems)
	if builtin == nil {
		return nil
	}
	outer.node.Queries = append(outer.node.Queries, builtin.Name)
	out := &plan.Ask{Pos: q.at, Query: builtin.Name}
	out.With = request(outer, q.with, builtin.With, "with", q.at)
	out.Candidate = request(inner, q.candidate, builtin.Candidate, "candidate", q.at)
	out.Own = out.Candidate != nil && ownTemplate(out.Candidate, c.out.Names)
	out.OnError = c.actions(outer.withError(q.at), q.onError)
	return out
}

// ownTemplate reports whether a template is a property of the candidate alone.
func ownTemplate(t *cel.Template, names []string) bool {
	var programs []*cel.Program
	t.Walk(func(p *cel.Program) { programs = append(programs, p) })
	return !slices.ContainsFunc(programs, func(p *cel.Program) bool { return !analyze.Own(p, names) })
}
