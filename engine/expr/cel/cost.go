package cel

import (
	"slices"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// costs tells what an expression costs by its text: a unit for each name, field
// and call, more for a list or map that it makes. Each step of a loop costs what
// the loop's body does; what a call takes beyond a unit is charged ahead.
//
// CEL counts every step of every expression by itself. That takes longer than
// the steps, and in a loop its time grows with the square of the rounds.
type costs struct {
	// rounds is what a round of each loop costs, by the loop's condition.
	rounds map[int64]uint64
}

// of returns the cost of an expression without that of the rounds of its loops,
// which it notes.
func (c *costs) of(e ast.Expr) uint64 {
	cost := own(e)
	if e.Kind() == ast.ComprehensionKind {
		fold := e.AsComprehension()
		c.rounds[fold.LoopCondition().ID()] = 1 + c.of(fold.LoopCondition()) + c.of(fold.LoopStep())
		return cost + c.of(fold.IterRange()) + c.of(fold.AccuInit()) + c.of(fold.Result())
	}
	for _, child := range Children(e) {
		cost += c.of(child)
	}
	return cost
}

// own is the cost of an expression without that of its parts.
func own(e ast.Expr) uint64 {
	switch e.Kind() {
	case ast.IdentKind:
		return 1
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return 0
		}
		return 1
	case ast.ListKind:
		if constant(e.AsList().Elements()) {
			return 0
		}
		return common.ListCreateBaseCost
	case ast.MapKind:
		return common.MapCreateBaseCost
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.LogicalAnd, operators.LogicalOr, operators.Conditional:
			return 0
		}
		return 1
	}
	return 0
}

// constant reports whether a list is of literals; it is made only once.
func constant(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return e.Kind() != ast.LiteralKind })
}

// countedRound is the condition of a loop, which charges for the round that it
// is asked about.
type countedRound struct {
	interpreter.InterpretableV2
	cost uint64
}

// Exec implements interpreter.InterpretableV2.
func (r *countedRound) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	m := findMeter(frame, "a loop")
	if err := m.meter.Step(r.cost); err != nil {
		m.refuse(err)
	}
	return r.InterpretableV2.Exec(frame)
}

// Eval implements interpreter.Interpretable.
func (r *countedRound) Eval(vars interpreter.Activation) ref.Val {
	return r.Exec(interpreter.AsFrame(vars))
}
