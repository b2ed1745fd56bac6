package check

import (
	"maps"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// keys are fields of objects, each by the type that has it: one of two objects of a
// kind is not told from the other, so that what guards one guards both. A guard that
// is missed is a false alarm.
type keys map[string]bool

func (k keys) with(others ...keys) keys {
	out := maps.Clone(k)
	if out == nil {
		out = keys{}
	}
	for _, other := range others {
		maps.Copy(out, other)
	}
	return out
}

// has reports whether a key is one of them, or any key of the same map.
func (k keys) has(key string) bool {
	if k[key] {
		return true
	}
	base, _, found := strings.Cut(key, "[")
	return found && k[base+"[*]"]
}

// nothing is the key of an object that may be null, by its name.
func nothing(name string) string { return "null " + name }

// compared returns what an expression compares with null.
func compared(e ast.Expr) (with ast.Expr, ok bool) {
	a, b, how := sides(e)
	if how != operators.Equals && how != operators.NotEquals {
		return nil, false
	}
	if cel.IsNull(a) {
		return b, true
	}
	return a, cel.IsNull(b)
}
