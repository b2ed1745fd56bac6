package explore

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/graph"
)

// Graph says which policies read and write which kinds.
type Graph struct {
	Edges []Edge `json:"edges"`
}

// Edge is what a policy reads, or writes, of the objects of a kind.
type Edge struct {
	Policy     string `json:"policy"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Does is decides, reads or writes.
	Does string `json:"does"`
	// Fields are paths; [*] is each item of a list and each value of a map.
	Fields []string `json:"fields"`
	// Rules are those that write.
	Rules []string `json:"rules,omitempty"`
}

// What an edge may be.
const (
	Decides = "decides"
	Reads   = "reads"
	Writes  = "writes"
)

// Graph returns what the policies read and write.
func (w *World) Graph() *Graph {
	out := &Graph{Edges: []Edge{}}
	for _, k := range graph.Of(w.options.Bundle.Policies).Kinds {
		for _, r := range k.ReadBy {
			does := Reads
			if r.Primary {
				does = Decides
			}
			out.add(Edge{Policy: r.Policy, APIVersion: k.APIVersion, Kind: k.Kind, Does: does, Fields: r.Fields})
		}
		for _, x := range k.WrittenBy {
			out.add(Edge{Policy: x.Policy, APIVersion: k.APIVersion, Kind: k.Kind, Does: Writes, Fields: x.Fields, Rules: []string{x.Rule}})
		}
	}
	slices.SortFunc(out.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Does, b.Does), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return out
}

// add adds an edge, or its fields and rules to one that is there.
func (g *Graph) add(e Edge) {
	for i := range g.Edges {
		have := &g.Edges[i]
		if have.Policy != e.Policy || have.Does != e.Does || have.Kind != e.Kind || have.APIVersion != e.APIVersion {
			continue
		}
		have.Fields = slices.Concat(have.Fields, e.Fields)
		slices.Sort(have.Fields)
		have.Fields = slices.Compact(have.Fields)
		for _, rule := range e.Rules {
			if !slices.Contains(have.Rules, rule) {
				have.Rules = append(have.Rules, rule)
			}
		}
		return
	}
	g.Edges = append(g.Edges, e)
}
