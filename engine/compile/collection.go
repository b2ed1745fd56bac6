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
	inner = formed(inner, as, formOf(s, over).Item())
	item := collected(inner, doc, c, variables)
	c.ObjectMask = inner.node.ObjectMask()
	c.Shared = inner.node.UsesOnly(analyze.Param)
	out.Collection = c
	return &variable{plan: out, of: shapeType(c.Shape, item.of), flow: shapeFlow(c.Shape, item.flow), form: shaped(c.Shape, item.form, analyze.MapForm, analyze.ListForm)}
}

// collected compiles what a collection does with one item, and returns what is known
// of a value. The scope is that of the item.
func collected(s *scope, doc *v1alpha1.Variable, c *plan.Collection, variables locals) variable {
	out := variable{of: elemType(c.ForEach.Type()), flow: s.flow(c.As), form: s.form(c.As)}
	c.Locals, s = variables(s, doc.Variables)
	c.When = s.typed(doc.When, cel.BoolType)
	if doc.Value.Set() {
		c.Value = s.handedOn(doc.Value.Node)
		out.of, out.flow = result(s, doc.Value, c.Value)
		out.form = analyze.TemplateForm(c.Value, s.form)
	}
	if doc.Unique {
		s.node.Reads.Consume(out.flow) // values are compared as a whole
	}
	keyed := formed(s.with("value", out.of, out.flow, doc.Pos), "value", out.form)
	c.Key = keyed.typed(firstSet(doc.KeyBy, doc.GroupBy), cel.StringType)
	c.OrderBy = keyed.order(doc.OrderBy)
	return out
}

// result is the type of a template's value and where it comes from: one that is a
// single expression hands that expression's result on.
func result(s *scope, t v1alpha1.Template, compiled *cel.Template) (*cel.Type, *analyze.Flow) {
	if p := compiled.Program(); p != nil {
		return cel.Unwrap(p.Type()), s.trace(p)
	}
	return templateType(t, compiled, false), nil
}
