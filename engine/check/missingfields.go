package check

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// missingFields finds objects, and parts of them, that are written out without a field that
// the API server demands. It is no error: a webhook may add the field.
func missingFields(p *policy) {
	for _, r := range p.plan.Rules {
		for a := range r.Actions() {
			switch a := a.(type) {
			case *plan.Child:
				if !a.Take { // else the rest may be in an object that there is
					p.missing(a.Manifest, a.Type, a.Kind, true)
				}
			case *plan.Merge:
				p.missing(a.Fields, p.typeAt(&a.Of, a.Under), "the object", false)
			}
		}
	}
}

// typeAt returns the type of a field of the objects that an action is about; nil when that
// is not known.
func (p *policy) typeAt(of *plan.ObjectRef, path []string) *schema.Type {
	t := p.plan.Primary.Type
	switch {
	case of.Expression != nil && len(of.Kinds) == 1:
		t = p.bundle.Schemas.Of(of.Kinds[0])
	case of.Expression != nil:
		return nil
	case !of.Primary():
		t = p.bundle.Schemas.Of(of.GVK)
	}
	for _, name := range path {
		if t = t.Field(name); t == nil {
			return nil
		}
	}
	return t
}

// missing looks at a template. Where it is merged into what there is, it need not be whole;
// the items of a list that it has replace those that there are.
func (p *policy) missing(t *cel.Template, of *schema.Type, where string, whole bool) {
	switch {
	case t == nil || of == nil:
	case t.IsList():
		for i := range t.Len() {
			p.missing(t.Item(i), of.Item(), where+"[]", true)
		}
	case t.IsMapping():
		names, known := p.missingBelow(t, of, where, whole)
		if whole && known {
			p.lacks(t, of, names, where)
		}
	}
}

// missingBelow looks at the fields of a mapping, and returns their names; known is false
// if some are computed.
func (p *policy) missingBelow(t *cel.Template, of *schema.Type, where string, whole bool) (names map[string]bool, known bool) {
	names, known = map[string]bool{}, true
	for i := range t.Len() {
		name, ok := t.Key(i)
		if !ok {
			known = false
			continue
		}
		names[name] = true
		p.missing(t.Item(i), of.Field(name), where+"."+name, whole)
	}
	return names, known
}

// lacks reports the fields that a mapping lacks. What every object has is looked at when
// the policy is compiled, and a status is not made with the object.
func (p *policy) lacks(t *cel.Template, of *schema.Type, names map[string]bool, where string) {
	object := of.Fields["metadata"] != nil
	for _, name := range of.FieldNames() {
		given := object && (name == "apiVersion" || name == "kind" || name == "metadata" || name == "status")
		if of.Demands(name) && !names[name] && !given {
			p.report(document.MissingField, t.Pos(), addition(name, of.Field(name)), fmt.Sprintf("%s has no %q, without which the API server refuses it", where, name))
		}
	}
}

// addition says what to add, and which of the values if only some are allowed.
func addition(name string, of *schema.Type) string {
	if of == nil || len(of.Enum) == 0 {
		return fmt.Sprintf("add %s: ...", name)
	}
	return fmt.Sprintf("add %s: %s", name, strings.Join(of.Enum, " or "))
}
