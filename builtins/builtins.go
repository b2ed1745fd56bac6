// Package builtins lists what policies can call beyond CEL's own libraries:
// one folder per builtin, each a declaration and plain Go.
package builtins

import (
	"fmt"
	"slices"

	"github.com/edict-dev/edict/builtins/base64"
	"github.com/edict-dev/edict/builtins/calendar"
	"github.com/edict-dev/edict/builtins/conditions"
	"github.com/edict-dev/edict/builtins/duration"
	"github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/builtins/grace"
	"github.com/edict-dev/edict/builtins/hash"
	"github.com/edict-dev/edict/builtins/json"
	"github.com/edict-dev/edict/builtins/labels"
	"github.com/edict-dev/edict/builtins/maps"
	"github.com/edict-dev/edict/builtins/memory"
	"github.com/edict-dev/edict/builtins/names"
	"github.com/edict-dev/edict/builtins/pattern"
	"github.com/edict-dev/edict/builtins/quantity"
	"github.com/edict-dev/edict/builtins/restart"
	"github.com/edict-dev/edict/builtins/text"
	"github.com/edict-dev/edict/engine/expr"
)

// Functions returns every builtin that an expression can call.
func Functions() []expr.Function {
	return slices.Concat(
		grace.Functions(), labels.Functions(), hash.Functions(), names.Functions(), pattern.Functions(),
		json.Functions(), text.Functions(), memory.Functions(), quantity.Functions(), restart.Functions(),
		base64.Functions(), maps.Functions(), duration.Functions(), calendar.Functions(),
		conditions.Functions(),
	)
}

// Queries returns the builtins that a selection can ask.
func Queries() []expr.Query { return extender.Queries() }

// Scripted returns answers that are written down: a document with one entry per
// builtin that looks outside. Builtins without an entry answer as if theirs
// were empty.
func Scripted(answers map[string]any) (expr.Answerers, error) {
	for name := range answers {
		if name != extenderName {
			return nil, fmt.Errorf("no builtin %q gives answers; there is %s", name, extenderName)
		}
	}
	script, ok := answers[extenderName].(map[string]any)
	if !ok && answers[extenderName] != nil {
		return nil, fmt.Errorf("the answers of %s must be an object", extenderName)
	}
	scripted, err := extender.Scripted(script)
	if err != nil {
		return nil, err
	}
	return expr.Answerers{extenderName: scripted}, nil
}

const extenderName = "extender"

// Recorded returns the document with which Scripted answers as some exchanges were
// answered; nil for none.
func Recorded(exchanges []expr.Exchange) (map[string]any, error) {
	script, err := extender.Recorded(exchanges)
	if script == nil || err != nil {
		return nil, err
	}
	return map[string]any{extenderName: script}, nil
}
