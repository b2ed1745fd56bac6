package cel

import (
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// constScope resolves constants only.
type constScope map[string]value.Value

// ResolveName implements expr.Scope.
func (s constScope) ResolveName(name string) (any, bool) {
	v, ok := s[name]
	return v, ok
}

// Parent implements expr.Scope.
func (s constScope) Parent() interpreter.Activation { return nil }

// ConstScope is a scope of constants, for what is computed when a policy is
// compiled.
func ConstScope(consts map[string]value.Value) expr.Scope { return constScope(consts) }
