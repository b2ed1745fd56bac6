package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// gather fills in what the nodes of a policy say together: what is read of every
// kind of object, and what is written.
func gather(p *plan.Policy) {
	reads, content := analyze.Reads{}, analyze.Reads{}
	p.Graph.EachPart(func(n *analyze.Node) {
		reads.Merge(n.AllReads())
		if n.Kind != analyze.Members { // what only a where reads changes who is a member
			content.Merge(n.AllReads())
		}
		p.Stateful = p.Stateful || n.Recalls || n.Keeps
		p.Queries = append(p.Queries, n.Queries...)
		p.FinalizerUses = append(p.FinalizerUses, n.Finalizers...)
		for _, w := range n.Writes {
			if !slices.Contains(p.Writes, w) {
				p.Writes = append(p.Writes, w)
			}
		}
	})
	slices.Sort(p.Queries)
	p.Queries = slices.Compact(p.Queries)
	p.ObjectReads = value.Merge(reads[analyze.Object], baseMask)
	for i, in := range p.Inputs {
		root := analyze.Root{Kind: analyze.Input, Index: i}
		in.Reads = value.Merge(reads[root], &value.Mask{})
		in.Content = value.Merge(content[root], &value.Mask{})
	}
	for i, t := range p.Targets {
		t.Reads = value.Merge(reads[targetRoot(i)], baseMask)
	}
}

// leaving fills in what is done about objects that leave the selector.
func leaving(p *plan.Policy, name *analyze.Node) {
	for _, r := range p.Rules {
		r.Leaving = r.Prunes || r.Gate.Reaches(func(n *analyze.Node) bool { return n == name })
	}
	if !p.Primary.Follows {
		return
	}
	for _, u := range p.FinalizerUses {
		if u.GVK == p.Primary.GVK && u.Finalizer.Value != "" && !slices.Contains(p.Primary.Finalizers, u.Finalizer.Value) {
			p.Primary.Finalizers = append(p.Primary.Finalizers, u.Finalizer.Value)
		}
	}
	p.ObjectReads = value.Merge(p.ObjectReads, finalizersMask)
}

// seal fills in the texts of the nodes, and computes their hashes.
func seal(p *plan.Policy, spec *document.Node, n *names) {
	for _, v := range spec.Get("variables").Items() {
		n.node(analyze.VariableRef(v.Get("name").Text)).Text = n.trees.text(v)
	}
	for i, in := range spec.Get("inputs").Items() {
		p.Inputs[i].Node.Text = n.trees.text(in) + restriction(p.Inputs[i])
	}
	p.Primary.Node.Text = n.trees.text(spec.Get("for")) + fmt.Sprintf("%q %q", p.Primary.Selector.String(), p.Primary.Namespaces)
	for i, rule := range spec.Get("rules").Items() {
		r := p.Rules[i]
		r.Gate.Text = gateText(rule, n.trees)
		r.Node.Text = n.trees.text(rule)
		for at, local := range rule.Get("variables").Items() {
			r.Locals[at].Node.Text = n.trees.text(local)
		}
	}
	p.Graph.Seal()
}

// restriction is what the params make of an input: these expressions are
// evaluated when the policy is compiled.
func restriction(in *plan.Input) string {
	s := in.Source
	return fmt.Sprintf("%s %q %q %q %t %t", s.GVK, s.Namespace, s.Name, s.Selector, in.Off, in.Own)
}

// gateText is what decides whether a rule's actions are reached.
func gateText(rule *document.Node, t trees) string {
	var out []string
	for _, field := range []string{"name", "when", "forEach", "as", "stop", "continueOnError", "finally"} {
		out = append(out, t.text(rule.Get(field)))
	}
	return strings.Join(out, "\n")
}
