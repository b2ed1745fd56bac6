package direct

import (
	"sync/atomic"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr"
)

// Scope gives out the values of names.
type Scope = interpreter.Activation

// Program is an expression that needs no interpreter. It is immutable.
type Program struct {
	root node
	// vars is how many variables its loops bind.
	vars int
	// lifted are the parts of its loops that are the same in each round.
	lifted []node
	// single says that it can only be evaluated row by row.
	single atomic.Bool
}

// Library is what a program calls.
type Library interface {
	// Call returns what implements a call; nil when it has to be left to the
	// interpreter.
	Call(call ast.Expr) *Call
	// Round returns what a round of a loop costs, by the loop's condition; 0 when
	// that is not known.
	Round(condition ast.Expr) uint64
}

// maxArguments is how many arguments a call has at most.
const maxArguments = 4

// Args are the arguments of a call, its target first; an array, because a slice
// would be allocated.
type Args [maxArguments]ref.Val

// Call is a function.
type Call struct {
	*functions.Overload
	// Need returns what a call takes; nil when that is small.
	Need func(*Args) expr.Need
	// Instead makes the call in place of the Overload, unless it returns nil.
	Instead func(*Args) ref.Val
	// Light is true if only calls with large arguments are charged. They are left to the
	// interpreter.
	Light bool
}

// Compile returns the program of a checked expression; nil when a part of it has no
// form here.
func Compile(checked *ast.AST, library Library) *Program {
	c := compiler{checked: checked, library: library, named: map[int]bool{}}
	root := c.node(checked.Expr())
	if root == nil {
		return nil
	}
	return &Program{root: root, vars: c.most, lifted: c.lifted}
}

// Eval returns the value of the expression, and charges what it takes. Nil means
// that the interpreter has to be asked: for a value that this package does not know,
// or why there is none. Nothing is charged then. That a builtin panics is for the
// interpreter to say as well.
func (p *Program) Eval(scope Scope, meter *expr.Meter) (out ref.Val) {
	return p.eval(take(scope, meter, p.vars))
}

// evalRow is Eval for a row of a batch, of which the parts were computed before.
func (p *Program) evalRow(r *row, meter *expr.Meter, parts []vec) ref.Val {
	f := take(r, meter, p.vars)
	f.lifted, f.row = parts, r.at
	return p.eval(f)
}

func (p *Program) eval(f *Frame) (out ref.Val) {
	defer func() {
		if recover() != nil {
			out = nil
		}
		f.end(out != nil)
	}()
	return p.root.eval(f)
}

// node is a part of an expression.
type node interface {
	// eval returns the value; nil when it gives up.
	eval(f *Frame) ref.Val
}
