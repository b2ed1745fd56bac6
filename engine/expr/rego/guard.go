package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"
)

// bounded is put before the name of a function that has a bound.
const bounded = "bounded."

// builtins are the functions with a bound, by the names that rename gives.
// OPA's evaluator takes a function of its own before one of the same name.
var builtins = func() map[string]*topdown.Builtin {
	out := map[string]*topdown.Builtin{}
	for name, limit := range bounds {
		out[bounded+name] = &topdown.Builtin{
			Decl: &ast.Builtin{Name: bounded + name, Decl: ast.BuiltinMap[name].Decl},
			Func: guard(limit, topdown.GetBuiltin(name)),
		}
	}
	out[weighed] = &topdown.Builtin{
		Decl: &ast.Builtin{Name: weighed, Decl: types.NewFunction(types.Args(types.A), types.B)},
		Func: guard(walked, func(_ topdown.BuiltinContext, _ []*ast.Term, give func(*ast.Term) error) error {
			return give(ast.InternedTerm(true))
		}),
	}
	return out
}()

// weighed is a function that weighs what it is given.
const weighed = bounded + "weigh"

// weighComprehensions makes compiled modules weigh what a comprehension gave:
// one that names the result of another many times grows without a step.
func weighComprehensions(c *ast.Compiler) {
	for _, m := range c.Modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.Rule:
				x.Body = weighBody(x.Body)
			case *ast.ArrayComprehension:
				x.Body = weighBody(x.Body)
			case *ast.SetComprehension:
				x.Body = weighBody(x.Body)
			case *ast.ObjectComprehension:
				x.Body = weighBody(x.Body)
			case *ast.Every:
				x.Body = weighBody(x.Body)
			}
			return false
		}).Walk(m)
	}
}

// weighBody puts a call behind each comprehension of a body; by now these are
// always the value of a variable.
func weighBody(body ast.Body) ast.Body {
	var out ast.Body
	for _, e := range body {
		out.Append(e)
		if e.IsEquality() && len(e.Operands()) == 2 && ast.IsComprehension(e.Operand(1).Value) {
			call := builtins[weighed].Decl.Expr(e.Operand(0)).SetLocation(e.Location)
			call.With, call.Generated = e.With, true
			out.Append(call)
		}
	}
	return out
}

func guard(limit bound, call topdown.BuiltinFunc) topdown.BuiltinFunc {
	return func(bctx topdown.BuiltinContext, args []*ast.Term, give func(*ast.Term) error) error {
		l, ok := bctx.Cancel.(*limiter)
		if !ok {
			return topdown.Halt{Err: ErrLimit}
		}
		if limit(l, args); l.why != nil {
			l.at = bctx.Location
			return topdown.Halt{Err: l.why}
		}
		bctx.Cancel = nil // what the call costs is counted; it would count each write of a text
		return call(bctx, args, give)
	}
}

// rename makes compiled modules call the functions with a bound. It is the
// last that is done to them: the compiler knows functions by their own names.
func rename(c *ast.Compiler) {
	for _, m := range c.Modules {
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			terms, call := e.Terms.([]*ast.Term)
			if !call || len(terms) == 0 {
				return false
			}
			if b, ok := builtins[bounded+terms[0].String()]; ok {
				terms[0] = ast.NewTerm(b.Decl.Ref()).SetLocation(terms[0].Location)
			}
			return false
		})
	}
}
