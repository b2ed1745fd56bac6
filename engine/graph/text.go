package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/record"
)

// String writes the circle as rules with the fields that they write.
func (l Loop) String() string {
	var out []string
	for _, e := range l.Edges {
		out = append(out, fmt.Sprintf("%s (%s) writes %s of %s", e.From.Policy, document.OneLine(e.From.Rule), strings.Join(e.Fields, ", "), e.Kind))
	}
	return strings.Join(out, ", which wakes ") + ", which wakes " + l.Edges[0].From.Policy
}

// Text writes the graph for people.
func (g *Graph) Text() string {
	var out strings.Builder
	for _, k := range g.Kinds {
		fmt.Fprintf(&out, "%s %s\n", k.APIVersion, k.Kind)
		for _, r := range k.ReadBy {
			verb := "read by"
			if r.Primary {
				verb = "decided by"
			}
			fmt.Fprintf(&out, "  %s %s: %s\n", verb, r.Policy, record.Join(r.Fields))
		}
		for _, w := range k.WrittenBy {
			fmt.Fprintf(&out, "  written by %s (%s): %s\n", w.Policy, document.OneLine(w.Rule), strings.Join(w.Fields, ", "))
		}
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&out, "%s (%s) wakes %s: %s of %s\n", e.From.Policy, document.OneLine(e.From.Rule), e.To.Policy, strings.Join(e.Fields, ", "), e.Kind)
	}
	for _, l := range g.Loops {
		fmt.Fprintf(&out, "loop: %s\n", l)
	}
	for _, a := range g.Authority {
		fmt.Fprintf(&out, "%s can make %s %s: it writes %s of %s\n", a.Writer, a.Obeys, a.Decides, a.Field, a.Kind)
	}
	return out.String()
}

// pair is an arrow between a policy and a kind.
type pair struct{ from, to string }

// arrows are the arrows of a picture: what is read points to the policy, what is
// written away from it. Thick ones come from the kind that a policy decides about.
func (g *Graph) arrows() (names []string, list []pair, decided map[pair]bool) {
	decided = map[pair]bool{}
	for _, p := range g.Policies {
		names = append(names, p.Name)
	}
	seen := map[pair]bool{}
	add := func(p pair) {
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	for _, k := range g.Kinds {
		for _, r := range k.ReadBy {
			add(pair{k.Kind, r.Policy})
			decided[pair{k.Kind, r.Policy}] = decided[pair{k.Kind, r.Policy}] || r.Primary
		}
		for _, w := range k.WrittenBy {
			add(pair{w.Policy, k.Kind})
		}
	}
	return names, list, decided
}

// Mermaid writes a picture: policies are boxes, kinds are rounded.
func (g *Graph) Mermaid() string {
	var out strings.Builder
	out.WriteString("flowchart LR\n")
	names, list, decided := g.arrows()
	id := map[string]string{} // names of policies have no capitals, names of kinds begin with one
	for i, name := range names {
		id[name] = fmt.Sprintf("p%d", i)
		fmt.Fprintf(&out, "  p%d[%q]\n", i, name)
	}
	for i, k := range g.Kinds {
		if id[k.Kind] == "" {
			id[k.Kind] = fmt.Sprintf("k%d", i)
			fmt.Fprintf(&out, "  k%d([%q])\n", i, k.Kind)
		}
	}
	for _, a := range list {
		arrow := "-.->"
		if decided[a] || slices.Contains(names, a.from) {
			arrow = "-->"
		}
		fmt.Fprintf(&out, "  %s %s %s\n", id[a.from], arrow, id[a.to])
	}
	return out.String()
}

// Dot writes the picture for Graphviz.
func (g *Graph) Dot() string {
	var out strings.Builder
	out.WriteString("digraph policies {\n  rankdir=LR;\n")
	names, list, decided := g.arrows()
	for _, name := range names {
		fmt.Fprintf(&out, "  %q [shape=box];\n", name)
	}
	for _, a := range list {
		style := ""
		if !decided[a] && slices.Contains(names, a.to) {
			style = " [style=dotted]"
		}
		fmt.Fprintf(&out, "  %q -> %q%s;\n", a.from, a.to, style)
	}
	out.WriteString("}\n")
	return out.String()
}
