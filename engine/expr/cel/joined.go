package cel

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/expr"
)

// joined is a list that + has made. CEL's own keeps its two parts, so finding an item of a
// list that a loop has put together takes a step for each round of the loop.
type joined struct {
	traits.Lister
	n int
	// room has the items of the list and of those that were made by adding to it.
	room *[]ref.Val
}

// asJoined returns a list as one that can be added to without copying it. A list that was
// added to already cannot.
func asJoined(l traits.Lister) (j joined, ok bool) {
	j, ok = l.(joined)
	return j, ok && j.n == len(*j.room)
}

// Add implements traits.Adder.
func (j joined) Add(other ref.Val) ref.Val {
	if out := join(&callArgs{j, other}); out != nil {
		return out
	}
	return j.Lister.Add(other)
}

// added is x + y: texts are joined, the items of lists are copied.
func added(a *callArgs) expr.Need {
	if n := textBytes(a[0]) + textBytes(a[1]); n > 0 {
		return copied(n)
	}
	x, y := length(a[0]), length(a[1])
	if x == 0 || y == 0 {
		return expr.Need{}
	}
	if l, ok := a[0].(traits.Lister); ok {
		if _, ok = asJoined(l); ok {
			return items(y)
		}
	}
	return items(x + y)
}

// join is x + y for lists; nil for all else. An empty list is not changed in its place,
// as CEL would where a loop begins with one: the loop may name it more than once.
func join(a *callArgs) ref.Val {
	if !lists(a) {
		return nil
	}
	x, y := a[0].(traits.Lister), a[1].(traits.Lister)
	switch {
	case length(x) == 0:
		return y
	case length(y) == 0:
		return x
	}
	j, ok := asJoined(x)
	if !ok {
		all := make([]ref.Val, 0, length(x)+length(y))
		j.room = &all
		j.append(x)
	}
	j.append(y)
	return j
}

// append adds items behind those that there are.
func (j *joined) append(l traits.Lister) {
	eachItem(l, func(item ref.Val) bool { *j.room = append(*j.room, item); return true })
	j.n = len(*j.room)
	j.Lister = types.NewRefValList(types.DefaultTypeAdapter, (*j.room)[:j.n:j.n])
}

// gathered finds the calls with which the loops of CEL's macros add one item to the list
// that they make. No other expression names that list: it grows in its place.
func gathered(tree ast.Expr) map[int64]bool {
	found := map[int64]bool{}
	ast.PostOrderVisit(tree, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind || collects(e.AsComprehension()) {
			return
		}
		step := e.AsComprehension().LoopStep()
		if step.Kind() == ast.CallKind && step.AsCall().FunctionName() == operators.Conditional {
			step = step.AsCall().Args()[1]
		}
		found[step.ID()] = true
	}))
	return found
}
