package direct

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Scope gives out the values of names.
type Scope = interpreter.Activation

// Program is an expression that needs no interpreter. It is immutable.
type Program struct{ root node }

// Functions finds what implements a call: by its overload, or by its name where the
// overload is found at run time. Nil means that nothing is known.
type Functions func(function, overload string) *functions.Overload

// Compile returns the program of a checked expression; nil when a part of it has no
// form here.
func Compile(checked *ast.AST, functions Functions) *Program {
	c := compiler{checked: checked, functions: functions}
	root := c.node(checked.Expr())
	if root == nil {
		return nil
	}
	return &Program{root: root}
}

// Eval returns the value of the expression. Nil means that the interpreter has to
// be asked: for a value that this package does not know, or why there is none. That
// a builtin panics is for the interpreter to say as well.
func (p *Program) Eval(scope Scope) (out ref.Val) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	return p.root.eval(scope)
}

// node is a part of an expression.
type node interface {
	// eval returns the value; nil when it gives up.
	eval(scope Scope) ref.Val
}
