package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// Lack is an allowance that a policy needs and does not have.
type Lack struct {
	Allowance
	// Position is where the text needs it.
	document.Position
}

// Problem is the error about the policy, with the allowance to add.
func (l Lack) Problem() document.Problem {
	what := "write " + l.Field + " of " + l.Kind
	switch l.Field {
	case Deletion:
		what = "delete objects of kind " + l.Kind
	case "*":
		what = "write objects of kind " + l.Kind
	}
	return document.Problem{
		Position: l.Position, Severity: document.Error, Message: fmt.Sprintf("the policy %s may not %s; the installation can allow it", l.Policy, what),
		Hint: fmt.Sprintf("add to the allowances of the installation (--allowances, extraAllowances of the chart): {policy: %s, kind: %s, fields: [%q]}", l.Policy, l.Kind, l.Field),
	}
}

// Lacks returns the allowances that a policy lacks, as far as its text tells:
// kind, field and verb are written out. What is computed is checked when it is
// about to be written.
func (g *Guard) Lacks(p *plan.Policy) []Lack {
	f := finder{Guard: g, policy: p}
	for _, w := range p.Writes {
		f.write(w)
	}
	for _, h := range p.Holds {
		if f.off(h.Place) {
			continue
		}
		f.need(h.Kind, "metadata.finalizers", h.Pos)
	}
	for _, r := range p.Rules {
		f.actions(r.Do)
		for _, c := range r.Cases {
			f.actions(c.Do)
		}
		f.actions(r.OnError)
	}
	return f.lacks
}

type finder struct {
	*Guard
	policy *plan.Policy
	lacks  []Lack
}

func (f *finder) need(kind, field string, at document.Position) {
	a := Allowance{Policy: f.policy.Name, Kind: kind, Field: field}
	known := slices.ContainsFunc(f.lacks, func(l Lack) bool { return l.Allowance == a || l.Kind == kind && l.Field == "*" })
	if !known && !f.allows(f.policy.Name, kind, field) {
		f.lacks = append(f.lacks, Lack{a, at})
	}
}

// off reports whether objects come from an input that is off, so there are none.
func (f *finder) off(at plan.Place) bool {
	return slices.ContainsFunc(f.policy.Inputs, func(in *plan.Input) bool { return in.Name == at.Input && in.Off })
}

// write checks what is written of a kind, whatever the fields are.
func (f *finder) write(w plan.Write) {
	if w.Verb == plan.WriteEvent || w.Verb == plan.WriteUpdate || f.off(w.Place) {
		return
	}
	at := f.place()
	if protectedKinds[w.Kind] || f.Home != "" && w.Place.Namespace.Value == f.Home {
		f.need(w.Kind, "*", at)
	}
	if w.Verb == plan.WriteDelete {
		f.need(w.Kind, Deletion, at)
	}
}

// place is that of the first rule: a kind that is written has none of its own.
func (f *finder) place() document.Position {
	if len(f.policy.Rules) == 0 {
		return document.Position{}
	}
	return f.policy.Rules[0].Pos
}

// actions checks the fields that are written out.
func (f *finder) actions(list []plan.Action) {
	for _, a := range list {
		switch a := a.(type) {
		case *plan.Child:
			a.Manifest.EachField(func(path []string) { f.field(a.Kind, path, a.Pos) })
		case *plan.Merge:
			f.merged(&a.Of, a.Under, a.Fields, a.Pos)
		case *plan.ListEntry:
			f.merged(&a.Of, a.Path, a.Entry, a.Pos)
		}
	}
}

// merged checks fields that are written below a path of an object.
func (f *finder) merged(of *plan.ObjectRef, under []string, fields *cel.Template, at document.Position) {
	kind := of.Kind
	if of.Primary() {
		kind = f.policy.Primary.Source.Kind
	}
	if kind == "" {
		return // only the object tells
	}
	f.field(kind, under, at)
	fields.EachField(func(path []string) { f.field(kind, slices.Concat(under, path), at) })
}

func (f *finder) field(kind string, path []string, at document.Position) {
	field := strings.Join(path, ".")
	if slices.ContainsFunc(protectedFields, func(p string) bool { return field == p || strings.HasSuffix(field, "."+p) }) {
		f.need(kind, field, at)
	}
}
