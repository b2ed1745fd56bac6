package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// locals compiles the variables of one item, and returns the scope that knows
// them.
type locals func(s *scope, docs []v1alpha1.Variable) ([]*plan.Variable, *scope)

// collection compiles a variable with one value per item.
func collection(s *scope, doc *v1alpha1.Variable, out *plan.Variable, variables locals) *variable {
	over, flow := s.list(doc.ForEach, "forEach")
	if over == nil {
		return nil
	}
	s.node.HandsOn.Consume(flow)
	as := itemName(doc.As, doc.Pos, s.problems)
	c := &plan.Collection{ForEach: over, As: as, Unique: doc.Unique, Shape: shape(doc.KeyBy, doc.GroupBy)}
	inner := s.part(analyze.Items, as, doc.Pos).with(as, elemType(over.Type()), flow.Elem(), doc.Pos)
	of, from := collected(inner, doc, c, variables)
	c.ObjectMask = inner.node.ObjectMask()
	c.Shared = inner.node.UsesOnly(analyze.Param)
	out.Collection = c
	return &variable{plan: out, of: shapeType(c.Shape, of), flow: shapeFlow(c.Shape, from)}
}

// collected compiles what a collection does with one item, and returns the type
// of a value and where it comes from. The scope is that of the item.
func collected(s *scope, doc *v1alpha1.Variable, c *plan.Collection, variables locals) (*cel.Type, *analyze.Flow) {
	of, flow := elemType(c.ForEach.Type()), s.flow(c.As)
	c.Locals, s = variables(s, doc.Variables)
	c.When = s.typed(doc.When, cel.BoolType)
	if doc.Value.Set() {
		c.Value = s.template(doc.Value)
		of, flow = s.result(doc.Value, c.Value)
	}
	if doc.Unique {
		s.node.Reads.Consume(flow) // values are compared as a whole
	}
	keyed := s.with("value", of, flow, doc.Pos)
	c.Key = keyed.typed(firstSet(doc.KeyBy, doc.GroupBy), cel.StringType)
	c.OrderBy = keyed.order(doc.OrderBy)
	return of, flow
}

// result is the type of a template's value and where it comes from: one that is a
// single expression hands that expression's result on.
func (s *scope) result(t v1alpha1.Template, compiled *cel.Template) (*cel.Type, *analyze.Flow) {
	if p := compiled.Program(); p != nil {
		return cel.Unwrap(p.Type()), s.trace(p)
	}
	return templateType(t, compiled, false), nil
}
