package direct

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
)

// lazy are the functions that do not always look at all their arguments: they have
// forms of their own, here and in the interpreter.
var lazy = map[string]bool{
	operators.Index: true, operators.OptIndex: true, operators.OptSelect: true, operators.NotStrictlyFalse: true,
	"orValue": true, "or": true, "optMap": true, "optFlatMap": true, "cel.@block": true,
}

// function is a call of what the interpreter would call.
func (c *compiler) function(e ast.Expr, args []node) node {
	if lazy[e.AsCall().FunctionName()] || len(args) > maxArguments {
		return nil
	}
	call := c.library.Call(e)
	c.liftAll(args)
	switch {
	case call == nil || call.Overload == nil || call.NonStrict || call.Async != nil:
		return nil
	case call.Need != nil || call.Instead != nil:
		return charged{args, call}
	case len(args) == 1 && call.Unary != nil:
		return converted(unary{args[0], call.OperandTrait, call.Unary}, e)
	case len(args) == 2 && call.Binary != nil:
		return binary{args[0], args[1], call.OperandTrait, call.Binary}
	case call.Function != nil:
		return variadic{args, call.OperandTrait, call.Function}
	}
	return nil
}

// converted makes a constant of a literal that is converted, such as duration("1h").
func converted(n unary, e ast.Expr) node {
	if _, literal := n.of.(constant); literal && overloads.IsTypeConversionFunction(e.AsCall().FunctionName()) {
		if v := n.eval(nil); v != nil {
			return constant{v}
		}
	}
	return n
}

// unary is a call with one argument.
type unary struct {
	of    node
	trait int
	do    functions.UnaryOp
}

func (n unary) eval(f *Frame) ref.Val {
	if v := n.of.eval(f); v != nil {
		return n.apply(v)
	}
	return nil
}

func (n unary) apply(v ref.Val) ref.Val {
	if n.trait != 0 && !v.Type().HasTrait(n.trait) {
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

func (n binary) eval(f *Frame) ref.Val {
	a := n.a.eval(f)
	if a == nil {
		return nil
	}
	b := n.b.eval(f)
	if b == nil {
		return nil
	}
	return n.apply(a, b)
}

func (n binary) apply(a, b ref.Val) ref.Val {
	if n.trait != 0 && !a.Type().HasTrait(n.trait) {
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

func (n variadic) eval(f *Frame) ref.Val {
	stack := f.args()
	defer f.free()
	args := stack[:len(n.args)]
	for i, a := range n.args {
		if args[i] = a.eval(f); args[i] == nil {
			return nil
		}
	}
	if n.trait != 0 && !args[0].Type().HasTrait(n.trait) {
		return nil
	}
	return good(n.do(args...))
}

// charged is a call that is charged before it is made.
type charged struct {
	args []node
	call *Call
}

func (n charged) eval(f *Frame) ref.Val {
	args := f.args()
	defer f.free()
	for i, a := range n.args {
		if args[i] = a.eval(f); args[i] == nil {
			return nil
		}
	}
	if need := n.need(args); n.call.Light && !Free(need) || !f.charge(need) {
		return nil
	}
	return good(n.do(args))
}

// rows makes the calls that are not charged after all. With a larger one, the whole
// expression is evaluated row by row.
func (n charged) rows(b *Batch) (vec, bool) {
	of := make([]vec, len(n.args))
	for i, a := range n.args {
		var ok bool
		if of[i], ok = rowsOf(a, b); !ok || of[i].many == nil && of[i].one == nil {
			return vec{}, false
		}
	}
	out, args := b.reuse(of...), &Args{}
	defer b.at(-1)
	for i := range out {
		b.at(i)
		var free bool
		if out[i], free = n.row(of, i, args); !free {
			return vec{}, false
		}
	}
	return vec{many: out}, true
}

// row makes the call of a row, unless it is charged.
func (n charged) row(of []vec, at int, args *Args) (out ref.Val, free bool) {
	for i, column := range of {
		if args[i] = column.at(at); args[i] == nil {
			return nil, true
		}
	}
	if !Free(n.need(args)) {
		return nil, n.call.Light
	}
	return good(n.do(args)), true
}

func (n charged) need(args *Args) expr.Need {
	if n.call.Need == nil {
		return expr.Need{}
	}
	return n.call.Need(args)
}

func (n charged) do(args *Args) any {
	if n.call.Instead != nil {
		if out := n.call.Instead(args); out != nil {
			return out
		}
	}
	switch {
	case len(n.args) == 0 || n.call.OperandTrait != 0 && !args[0].Type().HasTrait(n.call.OperandTrait):
		return nil
	case len(n.args) == 1 && n.call.Unary != nil:
		return n.call.Unary(args[0])
	case len(n.args) == 2 && n.call.Binary != nil:
		return n.call.Binary(args[0], args[1])
	case n.call.Function != nil:
		return n.call.Function(args[:len(n.args)]...)
	}
	return nil
}
