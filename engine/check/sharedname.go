package check

import (
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// sharedNames finds objects that are applied or made under one name for all primary
// objects, although they are not the same for all.
func sharedNames(p *policy) {
	if strings.Contains(p.Primary.Selector.String(), "kubernetes.io/metadata.name=") {
		return // one Namespace
	}
	for _, r := range p.Rules {
		if p.forChosen(r) {
			continue
		}
		for a := range r.Actions() {
			if c, ok := a.(*plan.Child); ok {
				p.sharedName(r, c)
			}
		}
	}
}

func (p *policy) sharedName(r *plan.Rule, a *plan.Child) {
	metadata := a.Manifest.Field("metadata")
	name, namespace := metadata.Field("name"), metadata.Field("namespace")
	if name == nil || p.tells(r, false, name, namespace) {
		return
	}
	perNamespace := p.tells(r, true, name, namespace)
	if !a.Kept && !p.tells(r, !perNamespace, a.Manifest) {
		return // one object, which is the same for all
	}
	all, hint := "all primary objects", "put key.name into metadata.name"
	if perNamespace {
		all = "all primary objects of a namespace"
	}
	if r.ForEach != nil {
		all, hint = all+" and all items", hint+", and what tells the items apart"
	}
	p.report(document.SharedName, name.Pos(), hint, "the "+a.Kind+" has the same name for "+all+consequence(a))
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
// or one item, from another. Their namespaces count only if it is said so.
func (p *policy) tells(r *plan.Rule, namespaces bool, templates ...*cel.Template) bool {
	d := &dependencies{policy: p, rule: r, seen: map[string]bool{}, inputs: true, namespaces: namespaces}
	for _, t := range templates {
		t.Walk(func(program *cel.Program) { d.found = d.found || d.tell(program, true) })
	}
	return d.found
}

// forChosen reports whether a rule compares the names of the primary objects, and so may
// be for one of them only.
func (p *policy) forChosen(r *plan.Rule) bool {
	d := &dependencies{policy: p, rule: r, seen: map[string]bool{}}
	conditions := []*cel.Program{r.When, r.ForEach}
	for i := range r.Cases {
		conditions = append(conditions, r.Cases[i].When)
	}
	for _, program := range conditions {
		d.found = d.found || program != nil && d.compare(program, true)
	}
	return d.found
}
