package rego

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Limits of comprehensions and bodies. OPA's compiler checks the types of a
// comprehension again for each one around it: its time doubles with each level.
// It orders a body in as many passes as it has expressions, each of which looks
// at all before: its time grows with the third power of the length.
const (
	// MaxComprehensions is how deep comprehensions may be nested.
	MaxComprehensions = 8
	// maxRepeated is how many more nodes the compiler may look at because they are
	// inside comprehensions; all modules of a library are counted together.
	maxRepeated = 200_000
	// MaxBody is how many expressions a body may have.
	MaxBody = 200
	// maxOrdered is the sum of the third powers of the lengths of all bodies of a
	// library.
	maxOrdered = 3 * MaxBody * MaxBody * MaxBody
)

// nesting counts what the compiler does more than once.
type nesting struct {
	depth, repeated, ordered int
	// problem is the first limit that is exceeded.
	at         *ast.Location
	what, hint string
}

// checkNesting refuses modules with which the compiler would take too long.
func (p *program) checkNesting(m *ast.Module) {
	n := &p.nesting
	visit(m, n.enter, n.leave)
	if n.at != nil {
		p.problems.Add(p.sources.problem(n.at, n.what, n.hint))
		*n = nesting{}
	}
}

// visit walks through a module. OPA's visitor leaves out the key of a partial
// set (x contains key).
func visit(m *ast.Module, enter, leave func(any)) {
	var v *ast.BeforeAfterVisitor
	v = ast.NewBeforeAfterVisitor(func(x any) bool {
		enter(x)
		if h, ok := x.(*ast.Head); ok && h.Key != nil && len(h.Reference) > 0 {
			v.Walk(h.Key)
		}
		return false
	}, leave)
	v.Walk(m)
}

func (n *nesting) enter(x any) {
	switch x := x.(type) {
	case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
		n.depth++
	case ast.Body:
		n.order(x)
	}
	if at := nests(x); at != nil {
		n.repeat(at)
	}
}

func (n *nesting) leave(x any) {
	switch x.(type) {
	case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
		n.depth--
	}
}

func (n *nesting) repeat(at *ast.Location) {
	if n.depth > MaxComprehensions {
		n.refuse(at, fmt.Sprintf("comprehensions are nested too deep, at most %d levels are read", MaxComprehensions), "make a part of it a rule of its own")
		return
	}
	n.repeated += 1<<n.depth - 1
	if n.repeated > maxRepeated {
		n.refuse(at, "the modules have too much text inside nested comprehensions", "make a part of them rules of their own")
	}
}

func (n *nesting) order(b ast.Body) {
	if len(b) == 0 {
		return
	}
	if len(b) > MaxBody {
		n.refuse(b.Loc(), fmt.Sprintf("a body has %d expressions, at most %d are read", len(b), MaxBody), "make a part of it a rule of its own")
		return
	}
	n.ordered += len(b) * len(b) * len(b)
	if n.ordered > maxOrdered {
		n.refuse(b.Loc(), "the modules have too many long bodies", "make parts of them rules of their own")
	}
}

func (n *nesting) refuse(at *ast.Location, what, hint string) {
	if n.at == nil {
		n.at, n.what, n.hint = at, what, hint
	}
}
