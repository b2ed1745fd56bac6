package direct

import (
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types/ref"
)

// maxArguments is how many arguments a call has at most.
const maxArguments = 4

// unary is a call with one argument.
type unary struct {
	of    node
	trait int
	do    functions.UnaryOp
}

func (n unary) eval(scope Scope) ref.Val {
	v := n.of.eval(scope)
	if v == nil || n.trait != 0 && !v.Type().HasTrait(n.trait) {
		return nil
	}
	return good(n.do(v))
}

// binary is a call with two arguments.
type binary struct {
	a, b  node
	trait int
	do    functions.BinaryOp
}

func (n binary) eval(scope Scope) ref.Val {
	a := n.a.eval(scope)
	if a == nil || n.trait != 0 && !a.Type().HasTrait(n.trait) {
		return nil
	}
	b := n.b.eval(scope)
	if b == nil {
		return nil
	}
	return good(n.do(a, b))
}

// variadic is a call with any number of arguments.
type variadic struct {
	args  []node
	trait int
	do    functions.FunctionOp
}

func (n variadic) eval(scope Scope) ref.Val {
	args := make([]ref.Val, len(n.args))
	for i, a := range n.args {
		if args[i] = a.eval(scope); args[i] == nil {
			return nil
		}
	}
	if n.trait != 0 && !args[0].Type().HasTrait(n.trait) {
		return nil
	}
	return good(n.do(args...))
}
