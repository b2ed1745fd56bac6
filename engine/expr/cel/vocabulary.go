package cel

import (
	"strings"

	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
)

// vocabulary is the builtins by name: the functions that are no part of CEL and its
// libraries.
type vocabulary map[string]*expr.Function

func vocabularyOf(functions []expr.Function) vocabulary {
	out := make(vocabulary, len(functions))
	for i := range functions {
		out[functions[i].Name] = &functions[i]
	}
	return out
}

// qualified reports whether builtins begin with a qualifier, as in
// labels.matches.
func (v vocabulary) qualified(qualifier string) bool {
	for name := range v {
		if strings.HasPrefix(name, qualifier+".") {
			return true
		}
	}
	return false
}

// scanIn returns the builtin that a message about types names, if it takes optionals
// as well: that an optional is no plain value is no help with it.
func (v vocabulary) scanIn(message string) *expr.Function {
	_, rest, _ := strings.Cut(message, "overload for '")
	name, _, _ := strings.Cut(rest, "'")
	if f := v[name]; f != nil && f.Scans != nil {
		return f
	}
	return nil
}

// standInsOf returns the arguments with which a function succeeds; nil for none.
func (v vocabulary) standInsOf(function string) (out []ref.Val) {
	own := v[function]
	if own == nil {
		return standIns[function]
	}
	return append(out, own.StandIns...)
}
