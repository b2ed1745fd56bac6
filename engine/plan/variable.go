package plan

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
)

// Variable is a named value.
type Variable struct {
	Name string
	Pos  document.Position
	// Program is an expression. Otherwise When and Value, or Collection.
	Program    *cel.Program
	When       *cel.Program
	Value      *cel.Template
	Collection *Collection
	// Rego is asked with Value as its input.
	Rego *Rego
	// Node has what the variable depends on, ObjectMask what of the primary object
	// its own expressions read.
	Node       *analyze.Node
	ObjectMask *value.Mask
	// Form is what the text says of the keys of the value.
	Form *analyze.Form
	// Shared says that a Program or Value uses nothing but params, inputs and other shared
	// variables, so that it gives the same for all keys that find the same in those.
	Shared bool
}

// Rego is a question to a Rego module.
type Rego struct {
	Query  *rego.Query
	Result rego.Result
}

// Collection computes one value per item of a list.
type Collection struct {
	ForEach *cel.Program
	As      string
	Locals  []*Variable
	When    *cel.Program
	// Value is the item's value; nil means the item itself.
	Value   *cel.Template
	Shape   Shape
	Key     *cel.Program
	OrderBy []*cel.Program
	Unique  bool
	// ObjectMask is what the computation of one item reads of the primary object.
	ObjectMask *value.Mask
	// Shared says that this is nothing but the item and params, so that the
	// collection is the same for all keys that have the same list.
	Shared bool
}
