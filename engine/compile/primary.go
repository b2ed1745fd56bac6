package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// primary compiles spec.for.
func primary(doc *v1alpha1.Policy, c *constants, k *kinds, problems *findings) plan.Primary {
	f := doc.Spec.For
	gvk, of := k.of(f.APIVersion, f.Kind)
	p := plan.Primary{GVK: gvk, Type: of, Optional: f.Optional || len(doc.Spec.Children) > 0, Selector: selector.Everything, Node: analyze.New(analyze.Primaries, gvk.Kind, doc.Pos)}
	p.Source.GVK, p.PruneOnly = gvk, p.Optional && !f.Optional
	if f.Selector.Set() {
		p.Selector = c.selector(f.Selector)
		// Of a narrowed watch, what leaves the selector looks as if it were gone.
		if p.Follows = follows(doc.Node.Get("spec")); !p.Follows {
			p.Source.Selector = p.Selector.String()
		}
	}
	if t := c.template(f.Namespaces); t != nil {
		p.Namespaces = namespaces(t, problems)
		p.Within = within(t, p.Namespaces)
	}
	k.inNamespace(gvk, f.Namespaces.Node)
	if len(p.Namespaces) == 1 {
		p.Source.Namespace = p.Namespaces[0]
	}
	return p
}

func namespaces(t *cel.Template, problems *findings) []string {
	list, ok := t.Constant().(*value.List)
	if !ok {
		problems.Errorf(t.Pos(), "namespaces must be a list")
		return nil
	}
	out := value.Strings(list)
	for _, ns := range out {
		if ns == "" {
			problems.Errorf(t.Pos(), "a namespace is empty")
		}
	}
	return out
}

// within is the one namespace of a primary. That one is left of a list which
// is computed says nothing about other settings.
func within(t *cel.Template, namespaces []string) analyze.ParamValue {
	switch {
	case len(namespaces) != 1:
		return analyze.ParamValue{}
	case t.Len() == 1:
		return knownText(t.Item(0))
	default:
		return analyze.ParamValue{Value: namespaces[0], Computed: true}
	}
}

// follows reports whether a policy has to see objects that leave its selector:
// it sets a finalizer, has children, or uses the name leaving. It looks at the text, because
// what is watched is needed before expressions are compiled; too often yes only
// widens the watch.
func follows(spec *document.Node) bool {
	found := false
	spec.Walk(func(key string, n *document.Node) {
		found = found || key == "finalizer" || key == "children" || n.Kind == document.String && strings.Contains(n.Text, analyze.Leaving.Name)
	})
	return found
}
