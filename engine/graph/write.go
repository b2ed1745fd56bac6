package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Creates and Deletes are the fields of a write that makes an object, or deletes it,
// Computed that of one whose fields are not written out.
const (
	Creates  = "(creates it)"
	Deletes  = "(deletes it)"
	Computed = "(fields that an expression gives)"
)

// Write is what an action writes of the objects of a kind.
type Write struct {
	Policy *plan.Policy
	Rule   *plan.Rule
	Action plan.Action
	schema.GVK
	Subresource string
	// Fields are the paths that are written, Values what is written to them where
	// that is a constant.
	Fields []string
	Values map[string]value.Value
	// Own says that the primary object is written, Named where an object is that is
	// named outright, as far as that is known, and Naming how it is named after the
	// primary object.
	Own    bool
	Named  *analyze.Scope
	Naming Naming
	// conditions are those of the rule.
	conditions []condition
}

// Writes returns what a policy writes.
func Writes(p *plan.Policy) (out []Write) {
	for _, r := range p.Rules {
		conditions := conditionsOf(r)
		for a := range r.Actions() {
			w := Write{Policy: p, Rule: r, Action: a, Values: map[string]value.Value{}, conditions: conditions}
			of := w.fill(a)
			if len(w.Fields) == 0 {
				continue
			}
			for _, kind := range w.kinds(of) {
				one := w
				one.GVK = kind
				out = append(out, one)
			}
		}
	}
	return out
}

// fill fills in the fields, and returns the object that is written; nil for one that
// is made.
func (w *Write) fill(a plan.Action) *plan.ObjectRef {
	switch a := a.(type) {
	case *plan.Merge:
		w.Subresource = a.Subresource
		w.template(strings.Join(a.Under, "."), a.Fields)
		return &a.Of
	case *plan.Condition:
		w.Subresource, w.Fields = "status", []string{"status.conditions"}
		return &a.Of
	case *plan.ListEntry:
		w.Subresource, w.Fields = a.Subresource, []string{strings.Join(a.Path, ".")}
		return &a.Of
	case *plan.Finalizer:
		w.Fields = []string{"metadata.finalizers"}
		return &a.Of
	case *plan.Delete:
		w.Fields = []string{Deletes}
		return &a.Of
	case *plan.Scale:
		w.Fields = []string{strings.Join(a.Field, ".")}
		return &a.Of
	case *plan.Evict:
		w.Fields = []string{Deletes}
		return &a.Of
	case *plan.Approve:
		w.Subresource, w.Fields = "approval", []string{"status.conditions"}
		return &a.Of
	case *plan.Child:
		w.GVK = a.GVK
		w.template("", a.Manifest)
		w.Fields = slices.DeleteFunc(w.Fields, func(f string) bool {
			return f == "apiVersion" || f == "kind" || f == "metadata.name" || f == "metadata.namespace"
		})
		w.Fields = append(w.Fields, Creates)
		metadata := a.Manifest.Field("metadata")
		w.name(metadata.Field("namespace"), metadata.Field("name"))
	}
	return nil
}

// template adds the fields that a template names outright, or what they are below.
func (w *Write) template(under string, t *cel.Template) {
	t.EachField(func(path []string, leaf bool) {
		if !leaf {
			return
		}
		at := t
		for _, name := range path {
			at = at.Field(name)
		}
		field := strings.TrimPrefix(under+"."+strings.Join(path, "."), ".")
		w.Fields = append(w.Fields, field)
		if at != nil && at.Constant() != nil {
			w.Values[field] = at.Constant()
		} else if whole := t.Constant(); whole != nil {
			w.Values[field] = value.Path(whole, path...)
		}
	})
	if len(w.Fields) == 0 {
		w.Fields = []string{cmp.Or(under, Computed)}
	}
}

func (w *Write) kinds(of *plan.ObjectRef) []schema.GVK {
	switch {
	case of == nil:
		return []schema.GVK{w.GVK}
	case of.Primary():
		w.Own = true
		return []schema.GVK{w.Policy.Primary.GVK}
	case of.Expression != nil:
		w.Own = of.Expression.Source() == "object"
		return of.Kinds
	}
	w.name(of.Namespace, of.Name)
	return []schema.GVK{of.GVK}
}

// generation is the field that counts the changes of an object.
const generation = "metadata.generation"

// counted returns the generation, which the API server counts up with a write of what is
// neither metadata nor status, if a mask names it.
func (w *Write) counted(m *value.Mask) []string {
	counts := func(f string) bool {
		return f != Creates && f != Deletes && !overlap(f, "metadata") && !overlap(f, "status")
	}
	if names(m, generation) && slices.ContainsFunc(w.Fields, counts) {
		return []string{generation}
	}
	return nil
}
