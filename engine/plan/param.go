package plan

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// ParamInfo describes a param for the people who set it.
type ParamInfo struct {
	Name, Type     string
	Value, Default value.Value
	// From says who gave the value; "" is the policy's own default.
	From string
	// Minimum, Maximum and MinLength are bounds as they were written.
	Minimum, Maximum, MinLength string
	// Enum are the values that are allowed, Items those of a list's items.
	Enum, Items []string
	Description string
	// Pos is where the policy declares it.
	Pos document.Position
}
