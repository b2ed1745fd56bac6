package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// actionList compiles a list of actions.
type actionList func(s *scope, docs []v1alpha1.Action) []plan.Action

// question is a call of a builtin about candidates, as it is written.
type question struct {
	call            v1alpha1.Text
	with, candidate []v1alpha1.Entry[v1alpha1.Template]
	onError         []v1alpha1.Action
	at              document.Position
	// scores says that the builtin must return scores.
	scores bool
}

// builtin returns the builtin that is called; nil when there is none.
func (q *question) builtin(queries []expr.Query, problems *findings) *expr.Query {
	name := q.call.Value
	i := slices.IndexFunc(queries, func(one expr.Query) bool { return one.Name == name })
	switch {
	case i < 0:
		known := make([]string, len(queries))
		for n, one := range queries {
			known[n] = one.Name
		}
		problems.Hintf(q.call.Pos(), document.DidYouMean(name, known), "no builtin %q can be called", name)
		return nil
	case queries[i].Scores != q.scores && q.scores:
		problems.Hintf(q.call.Pos(), "call it in confirm", "%s judges no candidates", name)
		return nil
	case queries[i].Scores != q.scores:
		problems.Hintf(q.call.Pos(), "call it in the pipeline", "%s confirms nothing", name)
		return nil
	}
	return &queries[i]
}

// request compiles the fields of a request and checks them against what the
// builtin takes.
func request(s *scope, entries []v1alpha1.Entry[v1alpha1.Template], fields []expr.Field, where string, at document.Position) *cel.Template {
	t := s.templateNode(mapping(entries, at))
	if t == nil {
		return nil
	}
	t.Fit(requestType(fields), where, &s.problems.Problems)
	given := map[string]bool{}
	for _, e := range entries {
		given[e.Key.Value] = true
	}
	for _, f := range fields {
		if !f.Optional && !given[f.Name] {
			s.problems.Hintf(at, "it takes "+fieldNames(fields), "%s lacks %s", where, f.Name)
		}
		if f.Type.Name == expr.Duration.Name {
			wantDuration(t.Field(f.Name), where+"."+f.Name, s.problems)
		}
	}
	return t
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
