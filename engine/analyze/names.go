package analyze

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Kind says what a name of a policy, or a node of its graph, stands for.
type Kind int

// The kinds. Local and Context are only of names, those after Variable only of
// nodes.
const (
	// Local is a variable of a loop, an item, or a variable of a rule.
	Local Kind = iota
	// Policy is the whole policy.
	Policy
	// Context is given by the evaluation: now, initial, leaving, error.message.
	Context
	// Primary is the primary object, Key its namespace and name.
	Primary
	Key
	Param
	Input
	Variable
	// Target is a kind that actions name outright.
	Target
	// Modules are the Rego modules beside the policy.
	Modules
	// Primaries says which objects are primary objects.
	Primaries
	// Members decides which objects are members of an input.
	Members
	// Items computes one item of a collection.
	Items
	Rule
	// Gate decides whether the actions of a rule are reached.
	Gate
	Action
	// Step is a part of a selection.
	Step
	Metric
)

var kindNames = map[Kind]string{
	Local: "local", Policy: "policy", Context: "context", Primary: "object", Key: "key", Param: "param", Input: "input", Variable: "variable", Target: "target",
	Modules: "modules", Primaries: "primaries", Members: "members", Items: "items", Rule: "rule", Gate: "gate", Action: "action", Step: "step", Metric: "metric",
}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// Root is an object, or one of several, that values are parts of: the Primary,
// or an object of the Input or Target of that index.
type Root struct {
	Kind  Kind
	Index int
}

// Object is the root of the primary object.
var Object = Root{Kind: Primary}

// usage is what an expression uses: the item, the key's side, and variables of
// loops around it.
type usage struct {
	item, key bool
	free      map[string]bool
}

func uses(e ast.Expr) usage {
	u := usage{free: map[string]bool{}}
	for name := range cel.Names(e) {
		switch {
		case name == ItemName:
			u.item = true
		case ParseRef(name).Kind == Local:
			u.free[name] = true
		case ofKey(name):
			u.key = true
		}
	}
	return u
}

// ofKey reports whether a name is on the key's side.
func ofKey(name string) bool {
	kind := ParseRef(name).Kind
	return name != ItemName && kind != Local && kind != Param
}

// readsKey reports whether a program reads the key's side. The time, and what is
// remembered, are not of it: every change of an object then wakes those that read it.
func readsKey(p *cel.Program) bool {
	for name := range p.Names() {
		if name != cel.CallVariable && ofKey(name) {
			return true
		}
	}
	return false
}

// OnlyParams reports whether a program uses nothing but params.
func OnlyParams(p *cel.Program) bool { return Own(p, nil) }

// Own reports whether a program uses nothing but the given local names and
// params: for candidates, that its result is a property of the candidate.
func Own(p *cel.Program, locals []string) bool {
	_, outer := depends(p.Names(), locals)
	return !outer
}

// Compares reports whether an expression compares the name now or measures from it: the
// time at which such a result changes cannot be known.
func Compares(p *cel.Program) bool {
	found := false
	ast.PostOrderVisit(p.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || !comparing[e.AsCall().FunctionName()] || joins(p, e) {
			return
		}
		for _, arg := range e.AsCall().Args() {
			found = found || cel.Names(arg)[Now.Name]
		}
	}))
	return found
}

// joins reports whether a call puts two lists or texts together, or gives a time before or
// after another: what it gives is as new at each evaluation as now is.
func joins(p *cel.Program, e ast.Expr) bool {
	name, kind := e.AsCall().FunctionName(), p.Tree().GetType(e.ID()).Kind()
	switch kind {
	case types.ListKind, types.StringKind:
		return name == operators.Add
	case types.TimestampKind:
		return name == operators.Add || name == operators.Subtract
	}
	return false
}

// ParamName returns the name of the param that an expression is and nothing
// else; "" when it is anything else.
func ParamName(p *cel.Program) string {
	e := p.Tree().Expr()
	if e.Kind() != ast.IdentKind {
		return ""
	}
	if r := ParseRef(e.AsIdent()); r.Kind == Param {
		return r.Name
	}
	return ""
}

var comparing = map[string]bool{
	operators.Less: true, operators.LessEquals: true, operators.Greater: true, operators.GreaterEquals: true,
	operators.Equals: true, operators.NotEquals: true, operators.Subtract: true, operators.Add: true,
}
