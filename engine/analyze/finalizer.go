package analyze

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// FinalizerUse is a finalizer that the policy sets on objects of a kind.
type FinalizerUse struct {
	Pos document.Position
	schema.GVK
	Scope Scope
	// Finalizer is its name; its Value is empty when only an evaluation tells.
	Finalizer ParamValue
}
