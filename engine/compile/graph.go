package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// masks fills in what is read of every kind of object, and what is written.
func (b *builder) masks() {
	reads, content := analyze.Reads{}, analyze.Reads{}
	b.graph().EachPart(func(n *analyze.Node) {
		reads.Merge(n.Reads)
		if n.Kind != analyze.Members { // what only a where reads changes who is a member
			content.Merge(n.Reads)
		}
		b.plan.Stateful = b.plan.Stateful || n.Recalls
		b.plan.Queries = append(b.plan.Queries, n.Queries...)
		for _, w := range n.Writes {
			if !slices.Contains(b.plan.Writes, w) {
				b.plan.Writes = append(b.plan.Writes, w)
			}
		}
	})
	slices.Sort(b.plan.Queries)
	b.plan.Queries = slices.Compact(b.plan.Queries)
	b.plan.HasSelections = b.selects > 0
	b.plan.ObjectReads = value.Merge(reads[analyze.Object], baseMask)
	for i, in := range b.plan.Inputs {
		root := analyze.Root{Kind: analyze.Input, Index: i}
		in.Reads = value.Merge(reads[root], &value.Mask{})
		in.Content = value.Merge(content[root], &value.Mask{})
	}
	for i, t := range b.plan.Targets {
		t.Reads = value.Merge(reads[targetRoot(i)], baseMask)
	}
}

// seal fills in what the nodes say, and computes their hashes.
func (b *builder) seal() {
	spec := b.doc.Node.Get("spec")
	for _, n := range spec.Get("variables").Items() {
		b.nodes["variables."+n.Get("name").Text].Text = b.trees.text(n)
	}
	for i, n := range spec.Get("inputs").Items() {
		b.plan.Inputs[i].Node.Text = b.trees.text(n) + narrowing(b.plan.Inputs[i])
	}
	b.modulesNode.Text = b.modulesText()
	b.plan.Primary.Node.Text = b.trees.text(spec.Get("for")) + b.primaries()
	for i, n := range spec.Get("rules").Items() {
		r := b.plan.Rules[i]
		r.Gate.Text = b.gateText(n)
		r.Node.Text = b.trees.text(n) + constants(r)
		for at, local := range n.Get("variables").Items() {
			r.Locals[at].Node.Text = b.trees.text(local)
		}
	}
	b.graph().Seal()
}

// primaries is what the params make of the primary's selector and namespaces.
func (b *builder) primaries() string {
	return fmt.Sprintf("%q %q", b.plan.Primary.Selector.String(), b.plan.Primary.Namespaces)
}

// narrowing is what the params make of an input: these expressions are
// evaluated when the policy is compiled.
func narrowing(in *plan.Input) string {
	s := in.Source
	return fmt.Sprintf("%s %q %q %q %t", s.GVK, s.Namespace, s.Name, s.Selector, in.Off)
}

// constants are the values of a rule that the params alone give.
func constants(r *plan.Rule) string {
	if r.Debounce == nil {
		return ""
	}
	return fmt.Sprint(r.Debounce.MaxInFlight)
}

// gateText is what decides whether a rule's actions are reached.
func (b *builder) gateText(rule *document.Node) string {
	var out []string
	for _, field := range []string{"name", "when", "forEach", "as", "stop", "continueOnError", "finally"} {
		out = append(out, b.trees.text(rule.Get(field)))
	}
	return strings.Join(out, "\n")
}

// modulesText is all Rego that the policy may ask.
func (b *builder) modulesText() string {
	var out strings.Builder
	for _, m := range b.options.Modules[b.doc.Pos.File] {
		out.WriteString(m.Text)
	}
	return out.String()
}

// unused warns about variables that neither a rule nor a metric uses, directly
// or through others.
func (b *builder) unused() {
	if b.problems.HasErrors() {
		return // what does not compile uses nothing
	}
	seen := map[*analyze.Node]bool{}
	for _, n := range b.graph().Parts {
		if n.Kind == analyze.Rule || n.Kind == analyze.Metric {
			n.Reach(seen)
		}
	}
	for i := range b.doc.Spec.Variables {
		v := &b.doc.Spec.Variables[i]
		if !seen[b.nodes["variables."+v.Name.Value]] {
			b.problems.Warnf(v.Name.Pos(), "the variable %q is used by no rule and no metric", v.Name.Value)
		}
	}
}

// trees are the programs of a policy by the scalar that they are written in.
type trees map[*document.Node][]*cel.Program

func (t trees) add(p *cel.Program) {
	at := p.Text()
	if !slices.ContainsFunc(t[at.Node], func(have *cel.Program) bool { return have.Text().Offset == at.Offset }) {
		t[at.Node] = append(t[at.Node], p)
	}
}

// text writes a part of a document without its layout, and with syntax trees in
// place of the expressions.
func (t trees) text(n *document.Node) string {
	if n == nil {
		return ""
	}
	var out []string
	for i, v := range n.Values {
		field := t.text(v)
		if n.Kind == document.Map {
			field = t.text(n.Keys[i]) + ": " + field
		}
		out = append(out, field)
	}
	switch n.Kind {
	case document.Map:
		slices.Sort(out)
		return "{" + strings.Join(out, ", ") + "}"
	case document.List:
		return "[" + strings.Join(out, ", ") + "]"
	default:
		return fmt.Sprintf("%s %q", n.Kind, t.scalar(n))
	}
}

func (t trees) scalar(n *document.Node) string {
	programs := slices.SortedFunc(slices.Values(t[n]), func(a, b *cel.Program) int { return a.Text().Offset - b.Text().Offset })
	text, out, from := []rune(n.Text), "", 0
	for _, p := range programs {
		at, size := p.Text().Offset, len([]rune(p.Source()))
		if at < from || at+size > len(text) || string(text[at:at+size]) != p.Source() {
			return n.Text // the scalar is escaped: its text says as much
		}
		out += string(text[from:at]) + analyze.Tree(p)
		from = at + size
	}
	return out + string(text[from:])
}
