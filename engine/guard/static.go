package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// writes checks all that the policy writes.
func (f *finder) writes() {
	p := f.policy
	for _, w := range p.Writes {
		f.write(w)
	}
	for _, h := range p.FinalizerUses {
		if !f.off(h.Scope) {
			f.need(need{gvk: h.GVK, field: "metadata.finalizers", danger: privilege}, h.Pos)
		}
	}
	for _, r := range p.Rules {
		f.rule = r
		f.actions(r.Do)
		for _, c := range r.Cases {
			f.actions(c.Do)
		}
		f.actions(r.OnError)
	}
}

type finder struct {
	grants *Grants
	policy *plan.Policy
	// rule is the one whose actions are checked.
	rule  *plan.Rule
	lacks []Lack
}

// form returns what the text says of the keys of a name that the rule uses.
func (f *finder) form(name string) *analyze.Form {
	for _, v := range f.rule.Locals {
		if v.Name == name {
			return v.Form
		}
	}
	if name == f.rule.As && f.rule.ForEach != nil {
		items, _ := analyze.FormOf(f.rule.ForEach, f.variable)
		return items.Item()
	}
	return f.variable(name)
}

func (f *finder) variable(name string) *analyze.Form {
	for _, v := range f.policy.Variables {
		if analyze.VariableRef(v.Name).String() == name {
			return v.Form
		}
	}
	return nil
}

func (f *finder) need(n need, at document.Position) {
	known := slices.ContainsFunc(f.lacks, func(l Lack) bool { return l.GVK == n.gvk && (l.Field == n.field || l.Field == Everything) })
	if !known && !f.grants.allows(n, "") {
		f.lacks = append(f.lacks, Lack{Policy: f.policy.Name, GVK: n.gvk, Field: n.field, Position: at, need: n,
			message: fmt.Sprintf("the policy %s may not %s; the installation can allow it", f.policy.ID(), n)})
	}
}

// obeys checks that the installation closes what a pinned policy obeys. Without the types
// of a kind that would be too much: a policy waits for them, and is checked again.
func (f *finder) obeys() {
	if !slices.ContainsFunc(f.grants.allowed, func(a Allowance) bool { return a.Pinned }) {
		return
	}
	for _, o := range f.grants.guard.Obeys(f.policy) {
		if f.untyped(o.GVK) {
			continue
		}
		closed := slices.ContainsFunc(f.grants.guard.Closed, func(c Closed) bool {
			return c.covers(o.GVK, o.Field, inner)
		})
		if !closed {
			f.lacks = append(f.lacks, Lack{Policy: f.policy.Name, GVK: o.GVK, Field: o.Field, Position: f.place(), need: need{gvk: o.GVK, field: o.Field},
				message: fmt.Sprintf("the policy %s is pinned, and takes from %s of %s what it may %s: the installation has to close that field for other policies", f.policy.ID(), o.Field, o.Kind, o.Decides),
				hint:    fmt.Sprintf("add to spec.allow of the PolicySet what edict allowances prints: {policy: %s, apiGroup: %q, kind: %s, obeys: [%q]}", f.policy.Name, o.Group(), o.Kind, o.Field)})
		}
	}
}

// untyped reports whether the type of a kind that the policy reads is not known.
func (f *finder) untyped(gvk schema.GVK) bool {
	guessed := func(of schema.GVK, t *schema.Type) bool {
		spec := t.Field("spec")
		return of == gvk && spec != nil && spec.Guess
	}
	return guessed(f.policy.Primary.GVK, f.policy.Primary.Type) ||
		slices.ContainsFunc(f.policy.Inputs, func(in *plan.Input) bool { return guessed(in.Source.GVK, in.Type) })
}

// off reports whether objects come from an input that is off, so there are none.
func (f *finder) off(at analyze.Scope) bool {
	return slices.ContainsFunc(f.policy.Inputs, func(in *plan.Input) bool { return in.Name == at.Input && in.Off })
}

// reads checks what is read of protected kinds.
func (f *finder) reads() {
	reading := need{gvk: schema.Secret, field: Reading, danger: workload}
	if f.policy.Primary.GVK == schema.Secret {
		f.read(reading, f.place())
	}
	for _, in := range f.policy.Inputs {
		if in.Source.GVK == schema.Secret && !in.Off {
			f.read(reading, in.Pos)
		}
	}
}

// read wants a permission to read; who sees values may read.
func (f *finder) read(n need, at document.Position) {
	if !f.grants.Values() {
		f.need(n, at)
	}
}

// writes are what ways of writing need an allowance for, whatever the fields are.
var writes = map[analyze.WriteVerb]string{analyze.WriteDelete: Deletion, analyze.WriteScale: Scaling, analyze.WriteEvict: Eviction}

// write checks what is written of a kind, whatever the fields are.
func (f *finder) write(w analyze.Write) {
	switch w.Verb {
	case analyze.WriteEvent, analyze.WriteUpdate, analyze.WriteBind, analyze.WriteEscalate, analyze.WriteApprove:
		return // what is approved needs the allowance: WriteSigner names it
	}
	if f.off(w.Scope) {
		return
	}
	at := f.placeOf(w)
	if home := f.grants.guard.Home; home != "" && w.Scope.Namespace.Value == home {
		f.need(need{gvk: w.GVK, field: Everything, home: home}, at)
	}
	switch {
	case w.Verb == analyze.WriteSigner:
		f.need(need{gvk: w.GVK, field: Approval + w.Scope.Name.Value}, at)
	case writes[w.Verb] != "":
		f.need(need{gvk: w.GVK, field: writes[w.Verb]}, at)
	case !Open(w.GVK) && w.Verb != analyze.WritePatch:
		f.need(need{gvk: w.GVK, field: Creation, closed: true}, at)
	case configuresCluster(w.GVK, w.Scope.Namespace.Value, w.Scope.Name.Value) && w.Verb != analyze.WritePatch:
		f.need(need{gvk: w.GVK, field: Creation, closed: true, system: true}, at)
	}
}

// placeOf returns where the first action is that writes like this; the first rule's place
// if none of its own does.
func (f *finder) placeOf(w analyze.Write) document.Position {
	for _, r := range f.policy.Rules {
		for a := range r.Actions() {
			if at, of := f.doing(a, w.Verb); slices.Contains(of, w.GVK) {
				return at
			}
		}
	}
	return f.place()
}

// doing returns the place of an action that writes in a way, and the kinds that it
// writes; no kinds for other actions.
func (f *finder) doing(a plan.Action, verb analyze.WriteVerb) (at document.Position, of []schema.GVK) {
	switch a := a.(type) {
	case *plan.Delete:
		return a.Pos, f.kinds(verb == analyze.WriteDelete, &a.Of)
	case *plan.Scale:
		return a.Pos, f.kinds(verb == analyze.WriteScale, &a.Of)
	case *plan.Evict:
		return a.Pos, f.kinds(verb == analyze.WriteEvict, &a.Of)
	case *plan.Approve:
		return a.Pos, f.kinds(verb == analyze.WriteSigner, &a.Of)
	case *plan.Child:
		if verb == analyze.WriteCreate || verb == analyze.WriteApply {
			return a.Pos, []schema.GVK{a.GVK}
		}
	}
	return at, nil
}

// kinds returns those of the object of an action, if it writes at all.
func (f *finder) kinds(writes bool, of *plan.ObjectRef) []schema.GVK {
	switch {
	case !writes:
		return nil
	case of.Primary():
		return []schema.GVK{f.policy.Primary.GVK}
	case of.Expression == nil:
		return []schema.GVK{of.GVK}
	}
	return of.Kinds
}

// place is that of the first rule: what is read as the primary object has none of its own.
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
			metadata := a.Manifest.Field("metadata")
			f.fields(f.object(a.GVK, metadata.Field("namespace"), metadata.Field("name"), a.Take), nil, a.Manifest, a.Pos)
		case *plan.Merge:
			f.merged(&a.Of, a.Under, a.Fields, a.Pos)
		case *plan.ListEntry:
			f.merged(&a.Of, a.Path, a.By, a.Pos)
			f.merged(&a.Of, a.Path, a.Entry, a.Pos)
		case *plan.Select:
			f.selection(a)
		}
	}
}

// selection checks the actions inside a select.
func (f *finder) selection(s *plan.Select) {
	f.actions(s.Together)
	f.actions(s.Then)
	f.actions(s.Otherwise)
	if s.Confirm != nil {
		f.actions(s.Confirm.OnError)
	}
	for i := range s.Steps {
		if ask := s.Steps[i].Ask; ask != nil {
			f.actions(ask.OnError)
		}
	}
}

// merged checks fields that are written below a path of an object.
func (f *finder) merged(of *plan.ObjectRef, under []string, fields *cel.Template, at document.Position) {
	for _, gvk := range f.kinds(true, of) {
		f.fields(f.object(gvk, of.Namespace, of.Name, true), under, fields, at)
		fields.EachNull(func(below []string) {
			if n := f.grants.guard.field(patched{f.policy, gvk, true, true}, slices.Concat(under, below), removed); n.danger != harmless {
				f.need(n, at)
			}
		})
	}
}

// written is a kind that is written, and whether the text names an object of it that
// configures the cluster.
type written struct {
	patched
	system bool
}

// object returns a kind with the object of it that templates name, which may be nil. theirs
// is true if it may be an object of others.
func (f *finder) object(gvk schema.GVK, namespace, name *cel.Template, theirs bool) written {
	return written{patched{f.policy, gvk, false, theirs}, configuresCluster(gvk, namespace.Text(), name.Text())}
}

// fields checks the fields of a template below a path.
func (f *finder) fields(of written, under []string, fields *cel.Template, at document.Position) {
	gvk, closed := of.GVK, of.system || !Open(of.GVK)
	field := func(below []string, last bool) {
		path, there := slices.Concat(under, below), inner
		if last {
			there = leaf
		}
		n := f.grants.guard.field(of.patched, path, inner) // what is computed below is judged when it is written
		if p := protectedField(of.patched, path, there); p.danger != harmless {
			p.obeyed = n.obeyed
			n = p
		}
		if n.danger != harmless {
			f.need(n, at)
		} else if closed && last && !names(path) {
			f.need(need{gvk: gvk, field: strings.Join(path, "."), closed: true, system: of.system}, at)
		}
	}
	fields.EachField(field)
	fields.EachComputed(func(below []string, value *cel.Program) {
		known := false
		if value != nil {
			form, _ := analyze.FormOf(value, f.form)
			form.EachField(func(path []string, last bool) {
				known = true
				field(slices.Concat(below[:len(below)-1], path), last)
			})
		}
		if path := slices.Concat(under, below); !known && isKey(of.patched, path) {
			f.need(protectedField(of.patched, path, leaf), at)
		}
	})
	if n := f.grants.guard.field(of.patched, under, inner); n.danger != harmless {
		f.need(n, at)
	}
}
