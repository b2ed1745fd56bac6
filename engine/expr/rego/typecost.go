package rego

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// MaxTypeCost is how many comparisons it may take to compare the type of a rule's
// value with one like it. OPA's compiler compares each part of a list or an object
// twice, and so a part of a part four times: what it takes doubles with each level,
// besides what a rule names more than once.
const MaxTypeCost = 5_000_000

// typeCosts computes what types cost before the compiler compares any. Where it
// cannot tell it takes them for larger: a part of a rule's value counts as all of it.
type typeCosts struct {
	// under are the rules at a name and below it, exact those that have it.
	under, exact map[string][]*ast.Rule
	// known are the costs so far; 1 while one is computed, so that a rule that uses
	// itself comes to an end. The compiler refuses it later.
	known map[*ast.Rule]int
}

// checkTypes refuses modules with values whose types take too long to compare.
func (p *program) checkTypes(parsed map[string]*ast.Module) {
	c := newTypeCosts(parsed)
	for _, file := range slices.Sorted(maps.Keys(parsed)) {
		for _, r := range parsed[file].Rules {
			if c.rule(r) > MaxTypeCost {
				p.problems.Add(p.sources.problem(r.Location,
					fmt.Sprintf("the type of %s is too large, the compiler may take %d comparisons for one", r.Head.Ref(), MaxTypeCost),
					"values that it names are made of others too often or too deep: name fewer, or let a function such as array.concat make one"))
				return // what uses it is as large
			}
		}
	}
}

func newTypeCosts(parsed map[string]*ast.Module) *typeCosts {
	c := &typeCosts{under: map[string][]*ast.Rule{}, exact: map[string][]*ast.Rule{}, known: map[*ast.Rule]int{}}
	for _, m := range parsed {
		for _, r := range m.Rules {
			name := r.Ref().GroundPrefix()
			c.exact[name.String()] = append(c.exact[name.String()], r)
			for n := range name {
				above := name[:n+1].String()
				c.under[above] = append(c.under[above], r)
			}
		}
	}
	return c
}

// rule returns what the type of a rule's value costs, with its else.
func (c *typeCosts) rule(r *ast.Rule) int {
	if cost, ok := c.known[r]; ok {
		return cost
	}
	c.known[r] = 1
	cost := 0
	for one := r; one != nil; one = one.Else {
		cost += c.head(r.Module, one)
	}
	c.known[r] = bounded(cost)
	return c.known[r]
}

func (c *typeCosts) head(m *ast.Module, r *ast.Rule) int {
	s := newTypeScope(c, m, r)
	cost := 1
	if r.Head.Value != nil {
		cost += s.term(r.Head.Value)
	}
	if r.Head.Key != nil {
		cost += s.term(r.Head.Key)
	}
	return bounded(cost)
}

// ref returns what the type of what a reference under data leads to costs.
func (c *typeCosts) ref(ref ast.Ref) int {
	ref = ref.GroundPrefix()
	cost, rules := 0, c.under[ref.String()]
	for n := len(ref) - 1; n > 0 && len(rules) == 0; n-- {
		rules = c.exact[ref[:n].String()]
	}
	for _, r := range rules {
		cost = bounded(cost + c.rule(r))
	}
	return cost
}

// bounded keeps sums from an overflow.
func bounded(cost int) int { return min(cost, MaxTypeCost+1) }
