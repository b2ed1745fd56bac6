package analyze

import (
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// sideForm says how a side's value becomes index keys.
type sideForm int

const (
	sideValues sideForm = iota
	sideLabels
	sideSelector
	sideLabelMap
	// sideItemNamespace and sideKeyNamespace are the two sides of a list that is
	// restricted to the namespace of the key.
	sideItemNamespace
	sideKeyNamespace
)

// Side computes the index keys of one side of a join.
type Side struct {
	form sideForm
	// loose is of a side that is a namespace: kinds may have none.
	loose bool
	// over is the list or map whose elements or keys are visited; nil visits
	// nothing: there is one tuple.
	over     *cel.Program
	variable string
	// each are the parts of the tuple; none means the element itself.
	each []*cel.Program
	// parts are the sides that this one combines: it has a key for every
	// combination of theirs.
	parts []*Side
}

// combined is the side of several joins at once.
func combined(parts []*Side) *Side {
	if len(parts) == 1 {
		return parts[0]
	}
	return &Side{parts: parts}
}

// Keys returns the index keys. Whatever fails has none: an expression that
// fails on an item makes it no member.
func (s *Side) Keys(scope expr.Scope, meter *expr.Meter) []string {
	switch {
	case s.parts != nil:
		return s.product(scope, meter)
	case s.form == sideItemNamespace || s.form == sideKeyNamespace:
		return s.namespaces(scope)
	}
	if s.over == nil {
		return s.tuple(scope, meter, nil)
	}
	over, err := s.over.Eval(scope, meter)
	if err != nil {
		return nil
	}
	var out []string
	switch x := value.Unwrap(over).(type) {
	case *value.List:
		meter.Grow(x.Len())
		out = make([]string, 0, x.Len())
		b := &bound{Activation: scope, name: s.variable}
		for _, b.value = range x.Items() {
			out = s.tuple(b, meter, out)
		}
	case *value.Map:
		for i := range x.Len() {
			key, _ := x.At(i)
			out = append(out, key)
		}
	}
	return out
}

// IsName reports whether the only key of an item is its name.
func (s *Side) IsName() bool {
	return s.parts == nil && s.form == sideValues && s.over == nil && len(s.each) == 1 && IsName(s.each[0])
}

// IsName reports whether an expression is the name of an item.
func IsName(p *cel.Program) bool { return p.Is(ItemName, "metadata", "name") }

// product returns a key for every combination of keys of the parts. Only one part
// has more than a few: the others are equalities.
func (s *Side) product(scope expr.Scope, meter *expr.Meter) []string {
	lists := make([][]string, len(s.parts))
	for i, part := range s.parts {
		if lists[i] = part.Keys(scope, meter); len(lists[i]) == 0 {
			return nil
		}
	}
	out := lists[0]
	for _, list := range lists[1:] {
		next := make([]string, 0, len(out)*len(list))
		for _, a := range out {
			for _, b := range list {
				next = append(next, joinKeys([]string{a, b}))
			}
		}
		out = next
	}
	return out
}

func (s *Side) tuple(scope expr.Scope, meter *expr.Meter, out []string) []string {
	if len(s.each) == 0 {
		b := scope.(*bound)
		return append(out, indexKey(b.value))
	}
	if len(s.each) == 1 {
		v, err := s.each[0].Eval(scope, meter)
		if err != nil {
			return out
		}
		return s.keysOf(v, out)
	}
	keys := make([]string, len(s.each))
	for i, p := range s.each {
		v, err := p.Eval(scope, meter)
		if err != nil {
			return out
		}
		keys[i] = indexKey(v)
	}
	return append(out, joinKeys(keys))
}

// keysOf adds the keys of a value to others.
func (s *Side) keysOf(v value.Value, out []string) []string {
	switch s.form {
	case sideLabels:
		return append(out, selector.LabelKeys(v)...)
	case sideSelector:
		parsed, err := selector.Parse(v)
		if err != nil {
			return out
		}
		return append(out, parsed.Anchors()...)
	case sideLabelMap:
		return append(out, selector.MapAnchors(v)...)
	default:
		return append(out, indexKey(v))
	}
}

// bound adds a loop variable to a scope.
type bound struct {
	interpreter.Activation
	name  string
	value value.Value
}

// ResolveName implements interpreter.Activation.
func (b *bound) ResolveName(name string) (any, bool) {
	if name == b.name {
		return b.value, true
	}
	return b.Activation.ResolveName(name)
}

// indexKey writes a value as an index key: equal values have equal keys. A text is its own,
// since names and labels are found by it, too.
func indexKey(v value.Value) string {
	if text, ok := value.Str(v); ok {
		return text
	}
	return "\x01" + value.IndexKey(v)
}
