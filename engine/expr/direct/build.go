package direct

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/value"
)

// mapInsert is the function with which loops add entries to a map.
const mapInsert = "cel.@mapInsert"

// builder returns the node of a loop that makes a list or a map; nil for any other.
func (c *compiler) builder(fold ast.ComprehensionExpr, l loop) node {
	if !isVariable(fold.Result(), fold.AccuVar()) || !isTrue(fold.LoopCondition()) {
		return nil
	}
	step, when := fold.LoopStep(), node(nil)
	if args, ok := isCall(step, operators.Conditional); ok {
		if !isVariable(args[2], fold.AccuVar()) {
			return nil
		}
		if when = c.node(args[0]); when == nil {
			return nil
		}
		step = args[1]
	}
	switch init := fold.AccuInit(); {
	case init.Kind() == ast.ListKind && init.AsList().Size() == 0:
		return c.lister(fold, l, when, step)
	case init.Kind() == ast.MapKind && init.AsMap().Size() == 0:
		return c.mapper(fold, l, when, step)
	}
	return nil
}

func isTrue(e ast.Expr) bool { return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.True }

// lister is a loop that adds items to a list: map and filter.
func (c *compiler) lister(fold ast.ComprehensionExpr, l loop, when node, step ast.Expr) node {
	args, ok := isCall(step, operators.Add)
	if !ok || !isVariable(args[0], fold.AccuVar()) || args[1].Kind() != ast.ListKind {
		return nil
	}
	added := args[1].AsList()
	if added.Size() != 1 || len(added.OptionalIndices()) > 0 {
		return nil
	}
	item := c.node(added.Elements()[0])
	if item == nil || c.named[l.accu] {
		return nil
	}
	return listing{l, when, item}
}

// listing is a loop that makes a list.
type listing struct {
	loop
	when, add node
}

func (n listing) eval(f *Frame) ref.Val {
	var few [16]value.Value // a longer list is put together in memory of its own
	out := few[:0]
	failed := false
	done := n.each(f, func() bool {
		if add, ok := holds(n.when, f); !ok || !add {
			failed = !ok
			return ok
		}
		item := settled(n.add.eval(f))
		out = append(out, item)
		failed = item == nil
		return !failed
	})
	if !done || failed {
		return nil
	}
	return small(value.ListOf(out...))
}

// holds evaluates a condition; nil is always true.
func holds(when node, f *Frame) (holds, ok bool) {
	if when == nil {
		return true, true
	}
	v, ok := when.eval(f).(types.Bool)
	return bool(v), ok
}

// settled returns a value as it is kept in a list or map.
func settled(v ref.Val) value.Value {
	if v == nil {
		return nil
	}
	out, err := value.Settle(v)
	if err != nil {
		return nil
	}
	return out
}

// small returns a value that was made, unless it may be larger than a result can
// be: the interpreter counts it exactly.
func small(v value.Value) ref.Val {
	if value.Weight(v) > value.MaxResultNodes || value.Built(v) > value.MaxResultBytes {
		return nil
	}
	return v
}

// mapper is a loop that adds entries to a map: transformMap and transformMapEntry.
func (c *compiler) mapper(fold ast.ComprehensionExpr, l loop, when node, step ast.Expr) node {
	args, ok := isCall(step, mapInsert)
	if !ok || len(args) < 2 || !isVariable(args[0], fold.AccuVar()) {
		return nil
	}
	call := c.library.Call(step)
	if call == nil {
		return nil
	}
	if len(args) == 2 {
		entry := args[1]
		if entry.Kind() != ast.MapKind || entry.AsMap().Size() != 1 {
			return nil
		}
		only := entry.AsMap().Entries()[0].AsMapEntry()
		if only.IsOptional() {
			return nil
		}
		args = []ast.Expr{args[0], only.Key(), only.Value()}
	} else {
		call = nil // no need is declared of one entry
	}
	key, v := c.node(args[1]), c.node(args[2])
	if key == nil || v == nil || c.named[l.accu] {
		return nil
	}
	return mapping{l, when, key, v, call}
}

// mapping is a loop that makes a map.
type mapping struct {
	loop
	when, key, value node
	// call is what inserts a map; nil for one entry.
	call *Call
}

// growing stands for the map that a loop adds to.
var growing = types.NewMutableMap(types.DefaultTypeAdapter, map[ref.Val]ref.Val{})

// oneMore are the arguments of adding a map of one entry. What that takes depends on the
// number of entries only.
var oneMore = &Args{growing, value.Field("", types.True)}

var _ traits.MutableMapper = growing

func (n mapping) eval(f *Frame) ref.Val {
	out := map[string]value.Value{}
	failed := false
	done := n.each(f, func() bool {
		if add, ok := holds(n.when, f); !ok || !add {
			failed = !ok
			return ok
		}
		failed = !n.insert(f, out)
		return !failed
	})
	if !done || failed {
		return nil
	}
	return small(value.FromMap(out))
}

func (n mapping) insert(f *Frame, out map[string]value.Value) bool {
	key, ok := n.key.eval(f).(types.String)
	if !ok || len(key) >= longText {
		return false
	}
	v := settled(n.value.eval(f))
	if v == nil {
		return false
	}
	if n.call != nil && n.call.Need != nil && !f.charge(n.call.Need(oneMore)) {
		return false
	}
	if _, twice := out[string(key)]; twice {
		return false
	}
	out[string(key)] = v
	return true
}

// list makes a node of a list that is written out.
func (c *compiler) list(l ast.ListExpr) node {
	if len(l.OptionalIndices()) > 0 {
		return nil
	}
	items := c.nodes(l.Elements())
	if items == nil {
		return nil
	}
	return fixed(list{items}, items)
}

// fixed returns a constant in place of a list or map of constants.
func fixed(n node, parts []node) node {
	for _, p := range parts {
		if _, ok := p.(constant); !ok {
			return n
		}
	}
	if v := n.eval(&Frame{}); v != nil {
		return constant{v}
	}
	return n
}

// list is [a, b].
type list struct{ items []node }

func (n list) eval(f *Frame) ref.Val {
	out := make([]value.Value, len(n.items))
	for i, item := range n.items {
		if out[i] = settled(item.eval(f)); out[i] == nil {
			return nil
		}
	}
	return small(value.NewList(out))
}

// object makes a node of a map that is written out.
func (c *compiler) object(m ast.MapExpr) node {
	keys, vals := make([]ast.Expr, m.Size()), make([]ast.Expr, m.Size())
	for i, e := range m.Entries() {
		entry := e.AsMapEntry()
		if entry.IsOptional() {
			return nil
		}
		keys[i], vals[i] = entry.Key(), entry.Value()
	}
	n := object{keys: c.nodes(keys), vals: c.nodes(vals)}
	if n.keys == nil || n.vals == nil {
		return nil
	}
	return fixed(n, append(n.keys[:len(n.keys):len(n.keys)], n.vals...))
}

// object is {a: b}.
type object struct{ keys, vals []node }

func (n object) eval(f *Frame) ref.Val {
	out := make(map[string]value.Value, len(n.keys))
	for i := range n.keys {
		key, ok := n.keys[i].eval(f).(types.String)
		if !ok || len(key) >= longText {
			return nil
		}
		if _, twice := out[string(key)]; twice {
			return nil
		}
		if out[string(key)] = settled(n.vals[i].eval(f)); out[string(key)] == nil {
			return nil
		}
	}
	return small(value.FromMap(out))
}
