package graph

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
)

// Loop is a circle: each rule writes what the next decides by, and the last writes what
// the first decides by. It goes through two policies at least: a rule that leads its
// own policy from one state to the next is nothing unusual. Only fields that both sides
// name count: of two policies that use labels, hardly any use the same ones.
type Loop struct {
	Policies []string `json:"policies"`
	Edges    []Edge   `json:"edges"`
}

// node is a rule.
type node struct{ policy, rule string }

// Loops returns the shortest circles of rules.
func Loops(policies []*plan.Policy) (out []Loop) {
	next, all := map[node][]Edge{}, ruleEdges(active(policies))
	for _, e := range all {
		from := node{e.From.Policy, e.From.Rule}
		next[from] = append(next[from], e)
	}
	said := map[string]bool{}
	for _, e := range all {
		if e.From.Policy == e.To.Policy {
			continue
		}
		path := shortest(next, node{e.To.Policy, e.To.Rule}, node{e.From.Policy, e.From.Rule})
		if path == nil {
			continue
		}
		l := Loop{Edges: append([]Edge{e}, path...)}
		for _, e := range l.Edges {
			l.Policies = append(l.Policies, e.From.Policy)
		}
		if l.oneField() {
			continue // they are writers of one field, and not led from one to the other
		}
		l.Policies = sorted(l.Policies)
		if key := l.key(); !said[key] {
			said[key] = true
			out = append(out, l)
		}
	}
	return out
}

// oneField reports whether all rules write the same fields.
func (l Loop) oneField() bool {
	return !slices.ContainsFunc(l.Edges, func(e Edge) bool { return e.Kind != l.Edges[0].Kind || !slices.Equal(e.Fields, l.Edges[0].Fields) })
}

// key is the same for a circle wherever it begins.
func (l Loop) key() string {
	var out []string
	for _, e := range l.Edges {
		out = append(out, e.From.Policy+"\n"+e.From.Rule)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// ruleEdges returns which rule wakes which.
func ruleEdges(policies []*plan.Policy) []Edge {
	out, by, asks := map[string]*Edge{}, map[*plan.Rule][]read{}, map[*plan.Rule][]condition{}
	for _, p := range policies {
		for _, r := range p.Rules {
			by[r], asks[r] = decides(p, r), conditionsOf(r)
		}
	}
	for _, from := range policies {
		for _, w := range Writes(from) {
			for _, to := range policies {
				for _, r := range to.Rules {
					if w.Own && w.GVK == to.Primary.GVK && prevents(w, asks[r]) {
						continue
					}
					for _, read := range by[r] {
						add(out, w, To{Policy: to.ID(), Rule: r.Name}, read, to, named(&w, read))
					}
				}
			}
		}
	}
	return list(out)
}

// shortest returns the shortest path between two rules; nil when there is none.
func shortest(next map[node][]Edge, from, to node) []Edge {
	came := map[node][]Edge{from: {}}
	for queue := []node{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to && len(came[at]) > 0 || at == to && from == to {
			return came[at]
		}
		for _, e := range next[at] {
			n := node{e.To.Policy, e.To.Rule}
			if _, seen := came[n]; !seen {
				came[n] = append(slices.Clone(came[at]), e)
				queue = append(queue, n)
			}
		}
	}
	return nil
}
