package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// Limits of what the literals of modules spread to.
const (
	// maxSpread is how many nodes the value of a rule may have, as far as the
	// text tells, once each name in it is replaced by what it stands for.
	maxSpread = 50_000
	// maxRepeat is how often an argument, or what a function gave, may stand in
	// it then: these may be large themselves.
	maxRepeat = 32
)

// spreadStage refuses rules whose names double each other: x1 := [x0, x0],
// x2 := [x1, x1] and so on. OPA's compiler writes such a value out when it
// checks types, and its evaluator when x1 and x2 are variables of one rule;
// neither can be interrupted.
var spreadStage = ast.CompilerStageDefinition{
	Name: "CheckSpread", MetricName: "compile_stage_check_spread",
	Stage: func(c *ast.Compiler) (found *ast.Error) {
		r := rules{compiler: c, known: map[*ast.Rule]int{}}
		for _, m := range c.Modules {
			ast.WalkRules(m, func(rule *ast.Rule) bool {
				if found == nil && !newSpreader(&r, rule).fits(rule) {
					found = ast.NewError(ast.CompileErr, rule.Location, spreads)
				}
				return found != nil
			})
		}
		return found
	},
}

const spreads = "the names in this rule stand for too large a value"

// rules knows the sizes of rules.
type rules struct {
	compiler *ast.Compiler
	known    map[*ast.Rule]int
}

// size gives the size of what a reference may lead to.
func (r *rules) size(ref ast.Ref) int {
	sum := 1
	for _, rule := range r.compiler.GetRules(ref.GroundPrefix()) {
		sum = min(sum+r.ofRule(rule), maxWeight)
	}
	return sum
}

func (r *rules) ofRule(rule *ast.Rule) int {
	if size, ok := r.known[rule]; ok {
		return size
	}
	r.known[rule] = 1 // for a rule that uses itself, which is another error
	s := newSpreader(r, rule)
	size := 1
	for _, t := range []*ast.Term{rule.Head.Key, rule.Head.Value} {
		if t != nil {
			size = min(size+s.of(t).nodes, maxWeight)
		}
	}
	r.known[rule] = size
	return size
}

// spread is what a term becomes: its nodes, and how often each variable that
// may hold something large stands in it.
type spread struct {
	nodes  int
	repeat map[ast.Var]int
}

func (s *spread) add(o spread) {
	s.nodes = min(s.nodes+o.nodes, maxWeight)
	for v, n := range o.repeat {
		if s.repeat == nil {
			s.repeat = map[ast.Var]int{}
		}
		s.repeat[v] = min(s.repeat[v]+n, maxWeight)
	}
}

func (s *spread) fits() bool {
	for _, n := range s.repeat {
		if n > maxRepeat {
			return false
		}
	}
	return s.nodes <= maxSpread
}
