// Package builtins lists what policies can call beyond CEL's own libraries:
// one folder per builtin, each a declaration and plain Go.
package builtins

import (
	"slices"

	"github.com/edict-dev/edict/builtins/grace"
	"github.com/edict-dev/edict/builtins/hash"
	"github.com/edict-dev/edict/builtins/json"
	"github.com/edict-dev/edict/builtins/labels"
	"github.com/edict-dev/edict/builtins/memory"
	"github.com/edict-dev/edict/builtins/names"
	"github.com/edict-dev/edict/builtins/pattern"
	"github.com/edict-dev/edict/builtins/restart"
	"github.com/edict-dev/edict/builtins/text"
	"github.com/edict-dev/edict/engine/expr"
)

// Functions gives every builtin that an expression can call.
func Functions() []expr.Function {
	return slices.Concat(
		grace.Functions(), labels.Functions(), hash.Functions(), names.Functions(), pattern.Functions(),
		json.Functions(), text.Functions(), memory.Functions(), restart.Functions(),
	)
}

// Calls gives the builtins that a selection can call, by name.
func Calls() map[string]bool {
	return map[string]bool{"extender.filterAndScore": true, "extender.narrowReservation": true}
}
