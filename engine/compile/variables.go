package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// variables compiles variables of the policy, of rules and of collections.
type variables struct {
	modules *modules
}

// compile compiles any form of variable; nil when it is wrong. Its node
// is the scope's.
func (vs *variables) compile(s *scope, doc *v1alpha1.Variable) *variable {
	out := vs.form(s, doc)
	if out != nil {
		out.plan.ObjectMask, out.plan.Form = s.node.ObjectMask(), out.form
	}
	return out
}

func (vs *variables) form(s *scope, doc *v1alpha1.Variable) *variable {
	out := &plan.Variable{Name: doc.Name.Value, Pos: doc.Pos, Node: s.node}
	switch {
	case doc.Rego != nil:
		return vs.modules.variable(s, doc.Rego, out)
	case doc.ForEach.Set():
		return collection(s, doc, out, vs.locals)
	case doc.Expression.Set():
		p, flow := s.alias(doc.Expression)
		if p == nil {
			return nil
		}
		out.Program = p
		s.node.HandsOn.Consume(flow)
		return &variable{plan: out, of: p.Type(), flow: flow, form: formOf(s, p)}
	case doc.Value.Set():
		out.When = s.typed(doc.When, cel.BoolType)
		out.Value = s.template(doc.Value)
		return &variable{plan: out, of: templateType(doc.Value, out.Value, out.When != nil), form: analyze.TemplateForm(out.Value, s.form)}
	default:
		s.problems.Hintf(doc.Pos, "expression, value, forEach or rego", "variable %q needs one of expression, value, forEach and rego", doc.Name.Value)
		return nil
	}
}

// locals compiles the variables of a rule or a collection, in their order, and
// returns the scope that knows them. Each is a part of the scope's node.
func (vs *variables) locals(s *scope, docs []v1alpha1.Variable) ([]*plan.Variable, *scope) {
	var out []*plan.Variable
	seen := map[string]bool{}
	if tooMany(docs, s.problems) {
		return nil, s
	}
	for i := range docs {
		doc := &docs[i]
		if !identifier(doc.Name, "variable", seen, doc.Pos, s.problems) {
			continue
		}
		own := s.part(analyze.Local, doc.Name.Value, doc.Pos)
		v := vs.compile(own, doc)
		if v == nil {
			s = s.withNode(own.node, cel.DynType, nil)
			continue
		}
		out = append(out, v.plan)
		s = formed(s.withNode(own.node, v.of, v.flow), doc.Name.Value, v.form)
	}
	return out, s
}

// tooMany rejects more variables than there may be: each is compiled against all
// before it.
func tooMany(docs []v1alpha1.Variable, problems *findings) bool {
	if len(docs) <= MaxVariables {
		return false
	}
	problems.Errorf(docs[MaxVariables].Pos, "there are %d variables, at most %d are allowed", len(docs), MaxVariables)
	return true
}
