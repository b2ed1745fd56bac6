package direct

import (
	"github.com/google/cel-go/common/ast"
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
		return converted(unary{args[0], call.unary}, e)
	case len(args) == 2 && call.Binary != nil:
		return binary{args[0], args[1], call.binary}
	case call.Function != nil:
		return variadic{args, call}
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

// unary is an operation on one value; it returns nil when it gives up.
type unary struct {
	of node
	do func(v ref.Val) ref.Val
}

func (n unary) eval(f *Frame) ref.Val {
	if v := n.of.eval(f); v != nil {
		return n.do(v)
	}
	return nil
}

func (c *Call) unary(v ref.Val) ref.Val {
	if !c.takes(v) {
		return nil
	}
	return good(c.Unary(v))
}

// takes reports whether a call can be made of a value.
func (c *Call) takes(first ref.Val) bool {
	return c.OperandTrait == 0 || first.Type().HasTrait(c.OperandTrait)
}

// binary is an operation on two values, as unary is.
type binary struct {
	a, b node
	do   func(a, b ref.Val) ref.Val
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
	return n.do(a, b)
}

func (c *Call) binary(a, b ref.Val) ref.Val {
	if !c.takes(a) {
		return nil
	}
	return good(c.Binary(a, b))
}

// variadic is a call with any number of arguments, which is not charged.
type variadic charged

func (n variadic) eval(f *Frame) ref.Val { return charged(n).eval(f) }

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
	case len(n.args) > 0 && !n.call.takes(args[0]):
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
