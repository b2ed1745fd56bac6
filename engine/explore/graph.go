package explore

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
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
	g := &grapher{edges: map[edgeKey]*Edge{}}
	for _, p := range w.Bundle.Policies {
		g.policy(p)
	}
	out := &Graph{Edges: []Edge{}}
	for _, e := range g.edges {
		slices.Sort(e.Fields)
		e.Fields = slices.Compact(e.Fields)
		out.Edges = append(out.Edges, *e)
	}
	slices.SortFunc(out.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Does, b.Does), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return out
}

type edgeKey struct {
	policy, does string
	kind         schema.GVK
}

type grapher struct{ edges map[edgeKey]*Edge }

func (g *grapher) edge(p *plan.Policy, does string, kind schema.GVK) *Edge {
	key := edgeKey{p.ID(), does, kind}
	if g.edges[key] == nil {
		g.edges[key] = &Edge{Policy: p.Name, APIVersion: kind.APIVersion, Kind: kind.Kind, Does: does, Fields: []string{}}
	}
	return g.edges[key]
}

func (g *grapher) policy(p *plan.Policy) {
	g.reads(p, Decides, p.Primary.GVK, p.ObjectReads)
	for _, in := range p.Inputs {
		g.reads(p, Reads, in.Source.GVK, in.Reads)
	}
	for _, r := range p.Rules {
		for a := range actionsOf(r) {
			g.writes(p, r, a)
		}
	}
	for _, w := range p.Writes { // also what no action names, such as a finalizer
		g.edge(p, Writes, w.GVK)
	}
}

func (g *grapher) reads(p *plan.Policy, does string, kind schema.GVK, mask *value.Mask) {
	e := g.edge(p, does, kind)
	e.Fields = append(e.Fields, record.Paths(mask)...)
}

func (g *grapher) writes(p *plan.Policy, r *plan.Rule, a plan.Action) {
	kinds, fields := written(p, a)
	for _, kind := range kinds {
		e := g.edge(p, Writes, kind)
		e.Fields = append(e.Fields, fields...)
		if !slices.Contains(e.Rules, r.Name) {
			e.Rules = append(e.Rules, r.Name)
		}
	}
}

// written returns the kinds whose objects an action writes, and which fields.
func written(p *plan.Policy, a plan.Action) (kinds []schema.GVK, fields []string) {
	switch a := a.(type) {
	case *plan.Merge:
		return kindsOf(p, &a.Of), merged(a)
	case *plan.Condition:
		return kindsOf(p, &a.Of), []string{"status.conditions"}
	case *plan.ListEntry:
		return kindsOf(p, &a.Of), []string{strings.Join(a.Path, ".")}
	case *plan.Finalizer:
		return kindsOf(p, &a.Of), []string{"metadata.finalizers"}
	case *plan.Delete:
		return kindsOf(p, &a.Of), []string{"(deletes it)"}
	case *plan.Child:
		return []schema.GVK{a.GVK}, []string{"(the whole object)"}
	}
	return nil, nil
}

func kindsOf(p *plan.Policy, of *plan.ObjectRef) []schema.GVK {
	switch {
	case of.Primary():
		return []schema.GVK{p.Primary.GVK}
	case of.Expression != nil:
		return of.Kinds
	}
	return []schema.GVK{of.GVK}
}

// merged returns the fields that a merge names outright, or what they are below.
func merged(m *plan.Merge) (out []string) {
	under := strings.Join(m.Under, ".")
	m.Fields.EachField(func(path []string, leaf bool) {
		if leaf {
			out = append(out, strings.TrimPrefix(under+"."+strings.Join(path, "."), "."))
		}
	})
	if len(out) == 0 {
		out = []string{cmp.Or(under, "(fields that an expression gives)")}
	}
	return out
}

// actionsOf returns all actions of a rule, also those of its selections and those
// for failures.
func actionsOf(r *plan.Rule) iter.Seq[plan.Action] {
	return func(yield func(plan.Action) bool) {
		lists := [][]plan.Action{r.Do, r.OnError}
		for i := range r.Cases {
			lists = append(lists, r.Cases[i].Do)
		}
		for len(lists) > 0 {
			list := lists[0]
			lists = lists[1:]
			for _, a := range list {
				if !yield(a) {
					return
				}
				if s, ok := a.(*plan.Select); ok {
					lists = append(lists, within(s)...)
				}
			}
		}
	}
}

// within returns the actions of a selection.
func within(s *plan.Select) [][]plan.Action {
	lists := [][]plan.Action{s.Then, s.Otherwise}
	if s.Confirm != nil {
		lists = append(lists, s.Confirm.OnError)
	}
	for i := range s.Steps {
		if s.Steps[i].Ask != nil {
			lists = append(lists, s.Steps[i].Ask.OnError)
		}
	}
	return lists
}
