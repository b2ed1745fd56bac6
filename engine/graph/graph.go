package graph

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
)

// Graph says which policies read and write which kinds.
type Graph struct {
	Policies []Policy `json:"policies"`
	Kinds    []Kind   `json:"kinds"`
	Edges    []Edge   `json:"edges"`
	Loops    []Loop   `json:"loops"`
	// Authority lists the policies that write fields which others obey.
	Authority []Authority `json:"authority"`
}

// Authority is a policy that writes a field, and another one that writes the value of this
// field to a protected one.
type Authority struct {
	Writer     string `json:"writer"`
	Obeys      string `json:"obeys"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Field      string `json:"field"`
	// Decides is the protected write, such as "write spec.containers.image of Pod".
	Decides string `json:"decides"`
}

// Policy is a policy with its rules.
type Policy struct {
	Name  string   `json:"name"`
	Rules []string `json:"rules"`
}

// Kind is a kind with those that read and write its objects. Fields are paths; [*] is
// each item of a list and each value of a map.
type Kind struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	ReadBy     []Reader  `json:"readBy"`
	WrittenBy  []Written `json:"writtenBy"`
}

// Reader is a policy that reads objects of a kind.
type Reader struct {
	Policy string `json:"policy"`
	// Primary says that the policy decides about them.
	Primary bool     `json:"primary,omitempty"`
	Fields  []string `json:"fields"`
}

// Written is a rule that writes objects of a kind.
type Written struct {
	Policy      string   `json:"policy"`
	Rule        string   `json:"rule"`
	Fields      []string `json:"fields"`
	Subresource string   `json:"subresource,omitempty"`
}

// Of returns the graph of policies.
func Of(policies []*plan.Policy) *Graph {
	g := &Graph{Policies: []Policy{}, Kinds: []Kind{}, Edges: []Edge{}, Loops: []Loop{}, Authority: []Authority{}}
	kinds := map[schema.GVK]*Kind{}
	of := func(gvk schema.GVK) *Kind {
		if kinds[gvk] == nil {
			kinds[gvk] = &Kind{APIVersion: gvk.APIVersion, Kind: gvk.Kind, ReadBy: []Reader{}, WrittenBy: []Written{}}
		}
		return kinds[gvk]
	}
	for _, p := range policies {
		one := Policy{Name: p.ID(), Rules: []string{}}
		for _, r := range p.Rules {
			one.Rules = append(one.Rules, r.Name)
		}
		g.Policies = append(g.Policies, one)
		for _, r := range reads(p) {
			if !r.named {
				of(r.GVK).read(p.ID(), r)
			}
		}
		for _, w := range Writes(p) {
			of(w.GVK).write(p.ID(), w)
		}
	}
	for _, k := range kinds {
		k.sort()
		g.Kinds = append(g.Kinds, *k)
	}
	slices.SortFunc(g.Kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	slices.SortFunc(g.Policies, func(a, b Policy) int { return cmp.Compare(a.Name, b.Name) })
	g.Edges = append(g.Edges, edges(policies)...)
	g.Loops = append(g.Loops, Loops(policies)...)
	for _, a := range guard.Authorities(policies) {
		g.Authority = append(g.Authority, Authority{a.Writer, a.Obeys, a.APIVersion, a.Kind, a.Field, a.Decides})
	}
	return g
}

func (k *Kind) read(policy string, r read) {
	for i := range k.ReadBy {
		if k.ReadBy[i].Policy == policy && k.ReadBy[i].Primary == r.own {
			k.ReadBy[i].Fields = append(k.ReadBy[i].Fields, record.Paths(r.mask)...)
			return
		}
	}
	k.ReadBy = append(k.ReadBy, Reader{Policy: policy, Primary: r.own, Fields: record.Paths(r.mask)})
}

func (k *Kind) write(policy string, w Write) {
	for i := range k.WrittenBy {
		if have := &k.WrittenBy[i]; have.Policy == policy && have.Rule == w.Rule.Name && have.Subresource == w.Subresource {
			have.Fields = append(have.Fields, w.Fields...)
			return
		}
	}
	k.WrittenBy = append(k.WrittenBy, Written{Policy: policy, Rule: w.Rule.Name, Fields: slices.Clone(w.Fields), Subresource: w.Subresource})
}

func (k *Kind) sort() {
	for i := range k.ReadBy {
		k.ReadBy[i].Fields = sorted(k.ReadBy[i].Fields)
	}
	for i := range k.WrittenBy {
		k.WrittenBy[i].Fields = sorted(k.WrittenBy[i].Fields)
	}
	slices.SortStableFunc(k.ReadBy, func(a, b Reader) int { return cmp.Compare(a.Policy, b.Policy) })
	slices.SortStableFunc(k.WrittenBy, func(a, b Written) int { return cmp.Compare(a.Policy, b.Policy) })
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
