package check

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// sharedNames finds objects that are applied or made under one name for all primary
// objects, although they are not the same for all.
func sharedNames(p *policy) {
	if strings.Contains(p.plan.Primary.Selector.String(), "kubernetes.io/metadata.name=") {
		return // one Namespace
	}
	for _, r := range p.plan.Rules {
		if p.forChosen(r, byName) {
			continue
		}
		for a := range r.Actions() {
			if c, ok := a.(*plan.Child); ok {
				p.sharedName(r, c)
			}
		}
	}
}

// The parts of the key by which an object may be named.
var (
	byName      = parts{name: true}
	byNamespace = parts{namespace: true}
	byBoth      = parts{name: true, namespace: true}
)

func (p *policy) sharedName(r *plan.Rule, a *plan.Child) {
	metadata := a.Manifest.Field("metadata")
	if metadata.Field("name") == nil {
		return
	}
	sharing, apart := p.sharing(r, metadata.Field("namespace"), metadata.Field("name"))
	if sharing == "" || !a.Kept && !p.tells(r, apart, a.Manifest) {
		return // one object, which is the same for all
	}
	hint := "put key.name into metadata.name"
	if apart == byNamespace {
		hint = "put key.namespace into metadata.name or metadata.namespace"
	}
	if r.ForEach != nil {
		sharing, hint = sharing+" and all items", hint+", and what tells the items apart"
	}
	p.report(document.SharedName, metadata.Field("name").Pos(), hint, "the "+a.Kind+" has the same name for "+sharing+consequence(a))
}

// sharing returns which primary objects have an object of one name, and by what parts of
// their keys they differ; "" when they have one each.
func (p *policy) sharing(r *plan.Rule, namespace, name *cel.Template) (primaries string, differ parts) {
	switch byItsName, byItsNamespace := p.tells(r, byName, namespace, name), p.tells(r, byNamespace, namespace, name); {
	case byItsName && (byItsNamespace || !p.inNamespaces() || p.forChosen(r, byNamespace)):
		return "", parts{}
	case byItsName:
		return "all primary objects of one name, in whatever namespace,", byNamespace
	case byItsNamespace:
		return "all primary objects of a namespace", byName
	}
	return "all primary objects", byBoth
}

// inNamespaces reports whether the primary objects are in several namespaces.
func (p *policy) inNamespaces() bool {
	of, known := p.bundle.Schemas.Resource(p.plan.Primary.GVK)
	return known && of.Namespaced && len(p.plan.Primary.Namespaces) != 1
}

func consequence(a *plan.Child) string {
	switch {
	case a.Kept:
		return ", and only one of them can have it as a child"
	case a.Apply:
		return ", and each of them writes it anew, because its content differs"
	default:
		return ", and its content is that of the first of them"
	}
}

// tells reports whether what some templates of a rule depend on tells one primary object,
// or one item, from another, by the parts of their keys that count or by other fields.
func (p *policy) tells(r *plan.Rule, counts parts, templates ...*cel.Template) bool {
	d := &dependencies{policy: p, rule: r, seen: map[string]bool{}, inputs: true, counts: counts}
	for _, t := range templates {
		t.Walk(func(program *cel.Program) { d.found = d.found || d.tell(program, true) })
	}
	return d.found
}

// forChosen reports whether a rule compares the names or namespaces of the primary objects,
// and so may be for some of them only.
func (p *policy) forChosen(r *plan.Rule, counts parts) bool {
	d := &dependencies{policy: p, rule: r, seen: map[string]bool{}, counts: counts}
	conditions := []*cel.Program{r.When, r.ForEach}
	for i := range r.Cases {
		conditions = append(conditions, r.Cases[i].When)
	}
	return slices.ContainsFunc(conditions, func(program *cel.Program) bool { return program != nil && d.compare(program, true) })
}
