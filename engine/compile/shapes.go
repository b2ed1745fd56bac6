package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// shape returns how values are given: by their keys, by groups, or as a list.
func shape(keyBy, groupBy v1alpha1.Text) plan.Shape {
	switch {
	case keyBy.Set():
		return plan.Keyed
	case groupBy.Set():
		return plan.Grouped
	default:
		return plan.List
	}
}

// shaped returns the type, flow or form of a shape, given that of an item.
func shaped[T any](shape plan.Shape, item T, keyed, list func(T) T) T {
	switch shape {
	case plan.One:
		return item
	case plan.Keyed:
		return keyed(item)
	case plan.Grouped:
		return keyed(list(item))
	default:
		return list(item)
	}
}

// shapeType returns the type of values of a shape.
func shapeType(shape plan.Shape, item *cel.Type) *cel.Type {
	return shaped(shape, item, cel.MapOf, cel.ListOf)
}

// shapeFlow returns where values of a shape come from.
func shapeFlow(shape plan.Shape, item *analyze.Flow) *analyze.Flow {
	return shaped(shape, item, analyze.ListOf, analyze.ListOf)
}

// variable is a compiled variable with the type of its value, where that comes from,
// and what the text says of its keys.
type variable struct {
	plan *plan.Variable
	of   *cel.Type
	flow *analyze.Flow
	form *analyze.Form
}

// firstSet returns the first text that was written.
func firstSet(texts ...v1alpha1.Text) v1alpha1.Text {
	for _, t := range texts {
		if t.Set() {
			return t
		}
	}
	return v1alpha1.Text{}
}
