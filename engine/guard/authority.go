package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// Obeyed is a field whose value a policy writes to a protected field: its writer uses the
// rights of the policy. A field that only decides whether and when the policy writes is not
// obeyed.
type Obeyed struct {
	schema.GVK
	// Field is a dotted path; Everything is the whole object.
	Field string
	// Decides is the protected write, such as "write spec.containers.image of Pod".
	Decides string
}

// Obeys returns the fields that a policy obeys by its text. The fields that the guard
// closes, because another policy obeys them, are protected as well.
func (g *Guard) Obeys(p *plan.Policy) []Obeyed {
	o := originsOf(p, Guard{Home: g.Home, Closed: g.Closed})
	slices.SortFunc(o.found, func(a, b Obeyed) int {
		return strings.Compare(a.GVK.String()+" "+a.Field, b.GVK.String()+" "+b.Field)
	})
	return o.found
}

// Unowned is an input whose values a policy writes to something protected, although it does
// not compare the uid of its objects' controller: a user who may make one decides the value.
type Unowned struct {
	*plan.Input
	// Field and Decides are as in Obeyed.
	Field, Decides string
}

// Unowneds returns those inputs of a policy, each once.
func Unowneds(p *plan.Policy) []Unowned { return originsOf(p, Guard{}).unowned }

// ObeyedByAll returns the fields that each of some policies obeys, in their order, and a
// guard that closes all of them: what is written to a field that another policy obeys is
// obeyed, too.
func ObeyedByAll(policies []*plan.Policy) (out [][]Obeyed, g Guard) {
	out = make([][]Obeyed, len(policies))
	for more := true; more; {
		more = false
		for i, p := range policies {
			found := g.Obeys(p)
			more = more || len(found) > len(out[i])
			out[i] = found
		}
		g.Closed = nil
		for i, p := range policies {
			for _, o := range out[i] {
				g.Closed = append(g.Closed, Closed{Policy: p.ID(), Group: o.Group(), Kind: o.Kind, Field: o.Field})
			}
		}
	}
	return out, g
}

// Authority is a policy that writes a field, and another one that obeys it.
type Authority struct {
	// Writer writes the field, Obeys the policy that obeys it.
	Writer, Obeys string
	Obeyed
	// Position is where the writer does so.
	document.Position
}

// String says what the writer can do.
func (a Authority) String() string {
	return fmt.Sprintf("%s can make %s %s: it writes %s of %s", a.Writer, a.Obeys, a.Decides, a.Field, a.Kind)
}

// Authorities returns the authority that policies have over each other, in their order.
func Authorities(policies []*plan.Policy) (out []Authority) {
	obeyed, g := ObeyedByAll(policies)
	for _, writer := range policies {
		lacks := g.Lacks(writer)
		for i, p := range policies {
			for _, o := range obeyed[i] {
				at := slices.IndexFunc(lacks, func(l Lack) bool { return l.GVK == o.GVK && l.need.obeyed != "" && covered(l.Field, o.Field) })
				if at >= 0 && p != writer {
					out = append(out, Authority{writer.Name, p.Name, o, lacks[at].Position})
				}
			}
		}
	}
	return out
}

// origins finds where the values come from that a policy writes to what is protected.
type origins struct {
	policy    *plan.Policy
	guard     Guard
	rule      *plan.Rule
	variables map[string]*analyze.Flow
	locals    map[string]*analyze.Flow
	found     []Obeyed
	// compared are the inputs whose objects' controller uid is compared, by where or by a
	// variable; byRule those for which the rule compares it.
	compared, byRule map[analyze.Root]bool
	// onlyOwned is true if the owner references are all that is protected of the write.
	onlyOwned bool
	// same is true if the value comes only from the object that is written.
	same    bool
	unowned []Unowned
}

func originsOf(p *plan.Policy, g Guard) *origins {
	o := &origins{policy: p, guard: g, variables: map[string]*analyze.Flow{}, compared: map[analyze.Root]bool{}}
	for _, r := range p.Rules {
		o.visit(r)
	}
	return o
}

func (o *origins) visit(r *plan.Rule) {
	o.rule, o.locals, o.byRule = r, map[string]*analyze.Flow{}, map[analyze.Root]bool{}
	if r.ForEach != nil {
		o.compare(r.ForEach, o.byRule)
		o.locals[r.As] = o.of(r.ForEach).Elem()
	}
	o.define(r.Locals)
	o.compare(r.When, o.byRule)
	for a := range r.Actions() {
		if s, ok := a.(*plan.Select); ok {
			o.levels(s)
		}
		o.action(a)
	}
}

// define adds the variables of a rule or a collection to the local names.
func (o *origins) define(list []*plan.Variable) {
	for _, v := range list {
		o.locals[v.Name] = o.variable(v)
	}
}

// levels adds the names that the actions of a selection have.
func (o *origins) levels(s *plan.Select) {
	var all *analyze.Flow
	for _, l := range s.Levels {
		o.locals[l.As] = analyze.Either(o.locals[l.As], o.of(l.In).Elem())
		all = analyze.Either(all, o.locals[l.As])
	}
	o.locals[plan.Taken] = analyze.ListOf(analyze.ListOf(all))
}

// of returns where the value of an expression comes from.
func (o *origins) of(p *cel.Program) *analyze.Flow {
	if p == nil {
		return nil
	}
	return analyze.Derive(p, o.name)
}

func (o *origins) template(t *cel.Template) *analyze.Flow { return analyze.DeriveTemplate(t, o.name) }

// name returns where the value of a name comes from.
func (o *origins) name(name string) *analyze.Flow {
	if f, local := o.locals[name]; local {
		return f
	}
	ref := analyze.ParseRef(name)
	if ref.Kind == analyze.Primary {
		return analyze.From(analyze.Object)
	}
	if f, known := o.variables[name]; known {
		return f
	}
	o.variables[name] = nil
	outer := o.locals
	o.locals = map[string]*analyze.Flow{}
	o.variables[name] = o.declared(ref)
	o.locals = outer
	return o.variables[name]
}

// declared returns where the value of an input or a variable of the policy comes from.
func (o *origins) declared(ref analyze.Ref) *analyze.Flow {
	if i := slices.IndexFunc(o.policy.Inputs, func(in *plan.Input) bool { return in.Name == ref.Name }); i >= 0 && ref.Kind == analyze.Input {
		in, item := o.policy.Inputs[i], analyze.From(analyze.Root{Kind: analyze.Input, Index: i})
		o.locals[analyze.ItemName] = item
		o.compare(in.Where, o.compared)
		return shaped(in.Shape, o.of(in.Key), item)
	}
	if i := slices.IndexFunc(o.policy.Variables, func(v *plan.Variable) bool { return v.Name == ref.Name }); i >= 0 && ref.Kind == analyze.Variable {
		return o.variable(o.policy.Variables[i])
	}
	return nil
}

// shaped returns where the values of a shape come from.
func shaped(shape plan.Shape, key, item *analyze.Flow) *analyze.Flow {
	switch shape {
	case plan.One:
		return item
	case plan.Keyed:
		return analyze.MapOf(key, item)
	case plan.Grouped:
		return analyze.MapOf(key, analyze.ListOf(item))
	default:
		return analyze.ListOf(item)
	}
}

func (o *origins) variable(v *plan.Variable) *analyze.Flow {
	switch {
	case v.Rego != nil && len(v.Rego.Result.Enum) > 0: // it only decides
		return nil
	case v.Rego != nil:
		return o.template(v.Value).Computed()
	case v.Collection != nil:
		return o.collection(v.Collection)
	case v.Program != nil:
		o.compare(v.Program, o.compared)
		return o.of(v.Program)
	default:
		return o.template(v.Value)
	}
}

func (o *origins) collection(c *plan.Collection) *analyze.Flow {
	outer := o.locals
	defer func() { o.locals = outer }()
	o.compare(c.ForEach, o.compared)
	item := o.of(c.ForEach).Elem()
	o.locals = map[string]*analyze.Flow{c.As: item}
	for name, f := range outer {
		if name != c.As {
			o.locals[name] = f
		}
	}
	o.define(c.Locals)
	if c.Value != nil {
		item = o.template(c.Value)
	}
	o.locals["value"] = item
	return shaped(c.Shape, o.of(c.Key), item)
}

// compare adds the inputs whose objects' controller uid an expression compares.
func (o *origins) compare(p *cel.Program, into map[analyze.Root]bool) {
	if p == nil {
		return
	}
	_, reads := analyze.Trace(p, o.name)
	for root, mask := range reads {
		for _, name := range []string{"metadata", "ownerReferences"} {
			if mask != nil && !mask.All {
				mask = mask.Fields[name]
			}
		}
		owner := mask != nil && mask.Each != nil && mask.Each.Fields["uid"] != nil && mask.Each.Fields["controller"] != nil
		into[root] = into[root] || owner
	}
}

// action notes the fields that an action writes to protected fields.
func (o *origins) action(a plan.Action) {
	f := finder{grants: &Grants{policy: o.policy, guard: &o.guard}, policy: o.policy, rule: o.rule}
	f.actions([]plan.Action{a})
	f.lacks = slices.DeleteFunc(f.lacks, func(l Lack) bool { return !l.need.rights() })
	o.onlyOwned = len(f.lacks) > 0 && !slices.ContainsFunc(f.lacks, func(l Lack) bool { return l.Field != "metadata.ownerReferences" })
	switch a := a.(type) {
	case *plan.Child:
		o.made(a, len(f.lacks) > 0)
	case *plan.Merge:
		o.merged(&f, &a.Of, a.Under, a.Fields)
	case *plan.ListEntry:
		o.merged(&f, &a.Of, a.Path, a.By)
		o.merged(&f, &a.Of, a.Path, a.Entry)
	case *plan.Delete:
		o.target(&f, &a.Of, Deletion)
	case *plan.Evict:
		o.target(&f, &a.Of, Eviction)
	case *plan.Scale:
		o.target(&f, &a.Of, Scaling, o.of(a.Replicas))
	case *plan.Approve:
		o.target(&f, &a.Of, Approval+a.Signer)
	case *plan.Finalizer:
		o.target(&f, &a.Of, "metadata.finalizers", o.template(a.Name))
	}
}

// made notes the fields that are in an object with protected fields, the protected ones
// first. The other fields say what such an object does, too.
func (o *origins) made(a *plan.Child, protected bool) {
	var first, rest []func()
	o.eachLeaf(a.Manifest, nil, func(path []string, t *cel.Template) {
		of, f := patched{o.policy, a.GVK, false, a.Take}, leaf
		if t.Program() != nil { // it may have all that is below
			of.patch, f = true, removed
		}
		note := func() { o.note(o.template(t), need{gvk: a.GVK, field: strings.Join(path, ".")}) }
		if protectedField(of, path, f).rights() {
			first = append(first, note)
			return
		}
		protected = protected || o.guard.field(of, path, f).rights()
		rest = append(rest, note)
	})
	if !protected && len(first) == 0 {
		return
	}
	for _, note := range append(first, rest...) {
		note()
	}
}

// merged notes the fields that decide what is written to protected fields below a path of
// an object, and which object that is.
func (o *origins) merged(f *finder, of *plan.ObjectRef, under []string, fields *cel.Template) {
	o.eachLeaf(fields, under, func(path []string, t *cel.Template) {
		field := strings.Join(path, ".")
		if slices.ContainsFunc(f.lacks, func(l Lack) bool { return covered(field, l.Field) || covered(l.Field, field) }) {
			o.same = of.Expression != nil && of.Expression.Is(o.rule.As)
			t.Walk(func(p *cel.Program) {
				for name := range p.Names() {
					o.same = o.same && name == o.rule.As
				}
			})
			o.target(f, of, field, o.template(t))
			o.same = false
		}
	})
}

// eachLeaf visits the templates in a template that are no mappings or lists with the paths
// of their fields; variables that are templates are followed. A key that is computed ends
// the path.
func (o *origins) eachLeaf(t *cel.Template, path []string, visit func(path []string, t *cel.Template)) {
	if named := o.named(t); named != nil {
		t = named
	}
	if t == nil || !t.IsList() && !t.IsMapping() || t.Len() == 0 {
		visit(path, t)
		return
	}
	for i := range t.Len() {
		below := path
		if t.IsMapping() {
			name, ok := t.Key(i)
			if !ok {
				visit(path, t.Item(i))
				continue
			}
			below = append(slices.Clone(path), name)
		}
		o.eachLeaf(t.Item(i), below, visit)
	}
}

// named returns the template of the variable that a template is; nil if it is no such.
func (o *origins) named(t *cel.Template) *cel.Template {
	if t.Program() == nil {
		return nil
	}
	for _, v := range o.rule.Locals {
		if v.Rego == nil && t.Program().Is(v.Name) {
			return v.Value
		}
	}
	for _, v := range o.policy.Variables {
		if v.Rego == nil && t.Program().Is(analyze.VariableRef(v.Name).String()) {
			return v.Value
		}
	}
	return nil
}

// target notes the fields that decide which object is written, and the value of its field.
func (o *origins) target(f *finder, of *plan.ObjectRef, field string, values ...*analyze.Flow) {
	n := need{field: field}
	if kinds := f.kinds(true, of); len(kinds) > 0 {
		n.gvk = kinds[0]
	}
	o.note(analyze.Either(append(values, o.template(of.Namespace), o.template(of.Name))...), n)
}

// note adds the fields of a flow, except for names of objects and for metadata that only
// the API server sets.
func (o *origins) note(f *analyze.Flow, n need) {
	for _, part := range f.Parts(o.typeOf) {
		gvk, field := o.kind(part.Root), cmp.Or(strings.Join(part.Path, "."), Everything)
		if names(part.Path) || len(part.Path) > 1 && part.Path[0] == "metadata" && slices.Contains(plan.ServerMetadata, part.Path[1]) {
			continue
		}
		o.add(Obeyed{gvk, field, n.String()})
		o.unguarded(part.Root, field, n)
	}
}

// unguarded adds the input that a value comes from if nothing compares who owns its objects.
func (o *origins) unguarded(r analyze.Root, field string, n need) {
	if r.Kind != analyze.Input || o.onlyOwned || o.same || o.compared[r] || o.byRule[r] {
		return
	}
	in := o.policy.Inputs[r.Index]
	if !slices.ContainsFunc(o.unowned, func(u Unowned) bool { return u.Input == in }) {
		o.unowned = append(o.unowned, Unowned{in, field, n.String()})
	}
}

// add adds a field, in the place of those below it: what they decide is said first.
func (o *origins) add(one Obeyed) {
	kept := o.found[:0]
	for _, have := range o.found {
		switch {
		case have.GVK != one.GVK:
		case covered(one.Field, have.Field):
			return
		case covered(have.Field, one.Field):
			one.Decides = have.Decides
			continue
		}
		kept = append(kept, have)
	}
	o.found = append(kept, one)
}

func (o *origins) typeOf(r analyze.Root) *schema.Type {
	if r.Kind == analyze.Input {
		return o.policy.Inputs[r.Index].Type
	}
	return o.policy.Primary.Type
}

func (o *origins) kind(r analyze.Root) schema.GVK {
	if r.Kind == analyze.Input {
		return o.policy.Inputs[r.Index].Source.GVK
	}
	return o.policy.Primary.GVK
}

// covered reports whether a path is a field or below it.
func covered(path, field string) bool {
	return field == Everything || path == field || strings.HasPrefix(path, field+".")
}
