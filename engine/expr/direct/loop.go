package direct

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/value"
)

// bind gives a variable of a loop a place among the variables.
func (c *compiler) bind(name string) (slot int) {
	c.bound = append(c.bound, name)
	c.most = max(c.most, len(c.bound))
	c.named[len(c.bound)-1] = false
	return len(c.bound) - 1
}

// variable is a variable of a loop.
type variable struct{ slot int }

func (n variable) eval(f *Frame) ref.Val { return f.vars[n.slot] }

// loop makes a node of a loop: filter, map, exists and all that expand to one.
func (c *compiler) loop(e ast.Expr) node {
	fold := e.AsComprehension()
	over := c.node(fold.IterRange())
	start := c.node(fold.AccuInit())
	if over == nil || start == nil {
		return nil
	}
	outer := len(c.bound)
	defer func() { c.bound = c.bound[:outer] }()
	l := loop{over: c.lift(over), cost: c.library.Round(fold.LoopCondition()), pairs: fold.HasIterVar2()}
	l.accu = c.bind(fold.AccuVar())
	first := c.bind(fold.IterVar())
	if l.pairs {
		l.key, l.item = first, c.bind(fold.IterVar2())
	} else {
		l.item = first
	}
	if l.cost == 0 {
		return nil
	}
	if n := c.builder(fold, l); n != nil {
		return n
	}
	l.start, l.when, l.step = start, c.node(fold.LoopCondition()), c.node(fold.LoopStep())
	c.bound = c.bound[:outer+1] // the result knows only what was gathered
	l.result = c.node(fold.Result())
	if l.when == nil || l.step == nil || l.result == nil || grows(fold) {
		return nil
	}
	return gather{l}
}

// grows reports whether a loop adds to what may be an empty list or map: the
// interpreter does so in place.
func grows(fold ast.ComprehensionExpr) bool {
	if isVariable(fold.LoopStep(), fold.AccuVar()) {
		return false
	}
	switch fold.AccuInit().Kind() {
	case ast.ListKind, ast.MapKind, ast.ComprehensionKind:
		return true
	}
	return false
}

// loop is what all loops have.
type loop struct {
	over node
	// start is what is gathered at first, when reports whether there is another round,
	// step makes of it what is gathered next.
	start, when, step, result node
	accu, key, item           int
	pairs                     bool
	cost                      uint64
}

// each visits what a loop goes over, until visit returns false. It reports false
// when it gives up.
func (l *loop) each(f *Frame, visit func() bool) bool {
	switch over := l.over.eval(f).(type) {
	case *value.List:
		return l.items(f, over, visit)
	case *value.Map:
		return l.entries(f, over, visit)
	case nil, *types.Optional:
		return false
	default:
		m, ok := over.Value().(*value.Map)
		return ok && l.entries(f, m, visit)
	}
}

func (l *loop) items(f *Frame, list *value.List, visit func() bool) bool {
	for i, item := range list.Items() {
		if !f.round(l.cost) {
			return false
		}
		if l.pairs {
			f.vars[l.key] = types.Int(i)
		}
		f.vars[l.item] = item
		if !visit() {
			break
		}
	}
	return true
}

func (l *loop) entries(f *Frame, m *value.Map, visit func() bool) bool {
	for i, key := range m.Keys() {
		if !f.round(l.cost) {
			return false
		}
		if l.pairs {
			_, f.vars[l.item] = m.At(i)
			f.vars[l.key] = key
		} else {
			f.vars[l.item] = key
		}
		if !visit() {
			break
		}
	}
	return true
}

// gather is a loop that gathers one value: exists, all, existsOne, bind.
type gather struct{ loop }

func (n gather) eval(f *Frame) ref.Val {
	start := n.start.eval(f)
	if start == nil {
		return nil
	}
	failed := false
	accu := start
	done := n.each(f, func() bool {
		f.vars[n.accu] = accu
		more, ok := n.when.eval(f).(types.Bool)
		if !ok || !bool(more) {
			failed = !ok
			return false
		}
		accu = n.step.eval(f)
		failed = accu == nil
		return !failed
	})
	if !done || failed {
		return nil
	}
	f.vars[n.accu] = accu
	return n.result.eval(f)
}

// isVariable reports whether an expression is one variable.
func isVariable(e ast.Expr, name string) bool {
	return e.Kind() == ast.IdentKind && e.AsIdent() == name
}

// isCall returns the arguments of a call of a function.
func isCall(e ast.Expr, function string) ([]ast.Expr, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != function || e.AsCall().IsMemberFunction() {
		return nil, false
	}
	return e.AsCall().Args(), true
}
