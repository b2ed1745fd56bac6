package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// ask compiles a question to a builtin. outer is the scope of what is sent
// once and of what is done when there is no answer.
func (b *selectionBuilder) ask(outer *scope, call v1alpha1.Text, with, candidate []v1alpha1.Entry[v1alpha1.Template], onError []v1alpha1.Action, at document.Position, scores bool) *plan.Ask {
	q := b.query(call, scores)
	if q == nil {
		return nil
	}
	out := &plan.Ask{Pos: at, Query: q.Name}
	outer.node.Queries = append(outer.node.Queries, q.Name)
	out.With = b.request(outer, with, q.With, "with", at)
	out.Candidate = b.request(b.inner, candidate, q.Candidate, "candidate", at)
	out.Own = out.Candidate != nil && b.own(out.Candidate)
	out.OnError = b.actions(outer.with(b.builder, "error.message", cel.StringType, nil, at), onError)
	return out
}

func (b *selectionBuilder) own(t *cel.Template) bool {
	own := true
	t.Walk(func(p *cel.Program) { own = own && analyze.Own(p, b.out.Names) })
	return own
}

func (b *builder) query(t v1alpha1.Text, scores bool) *expr.Query {
	i := slices.IndexFunc(b.options.Queries, func(q expr.Query) bool { return q.Name == t.Value })
	switch {
	case i < 0:
		known := make([]string, len(b.options.Queries))
		for n, q := range b.options.Queries {
			known[n] = q.Name
		}
		b.problems.Hintf(t.Pos(), document.DidYouMean(t.Value, known), "no builtin %q can be called", t.Value)
		return nil
	case b.options.Queries[i].Scores != scores && scores:
		b.problems.Hintf(t.Pos(), "call it in confirm", "%s judges no candidates", t.Value)
		return nil
	case b.options.Queries[i].Scores != scores:
		b.problems.Hintf(t.Pos(), "call it in the pipeline", "%s confirms nothing", t.Value)
		return nil
	}
	return &b.options.Queries[i]
}

// request compiles the fields of a request and checks them against what the
// builtin takes.
func (b *builder) request(s *scope, entries []v1alpha1.Entry[v1alpha1.Template], fields []expr.Field, where string, at document.Position) *cel.Template {
	t := b.templateNode(s, mapping(entries, at))
	if t == nil {
		return nil
	}
	t.Fit(requestType(fields), where, b.problems)
	given := map[string]bool{}
	for _, e := range entries {
		given[e.Key.Value] = true
	}
	for _, f := range fields {
		if !f.Optional && !given[f.Name] {
			b.problems.Hintf(at, "it takes "+fieldNames(fields), "%s lacks %s", where, f.Name)
		}
		if f.Type.Name == expr.Duration.Name {
			b.wantDuration(t.Field(f.Name), where+"."+f.Name)
		}
	}
	return t
}

// wantDuration refuses what is known not to be a duration: as a field of an
// object, a duration would be a text.
func (b *builder) wantDuration(t *cel.Template, where string) {
	if t == nil {
		return
	}
	if p := t.Single(); p != nil && (cel.IsDyn(p.Type()) || p.Type().IsExactType(cel.DurationType)) {
		return
	}
	b.problems.Hintf(t.Pos(), "a param of type: duration, or ${duration(\"2s\")}", "%s must be a duration", where)
}

func fieldNames(fields []expr.Field) (out string) {
	for i, f := range fields {
		if i > 0 {
			out += ", "
		}
		out += f.Name + " (" + f.Type.String() + ")"
	}
	return out
}

var requestKinds = map[string]schema.Kind{
	"string": schema.String, "int": schema.Int, "bool": schema.Bool, "timestamp": schema.Time,
}

// requestType is the schema of a request's fields.
func requestType(fields []expr.Field) *schema.Type {
	t := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{}}
	for _, f := range fields {
		kind, known := requestKinds[f.Type.Name]
		if !known {
			kind = schema.Dyn
		}
		t.Fields[f.Name] = &schema.Type{Kind: kind}
	}
	return t
}
