package cel

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/edict-dev/edict/engine/expr"
)

// planningEnv makes an environment that plans programs. What an expression may
// say is checked by the API server's environment; that one counts the cost of
// every step of every program, which for a field access takes longer than the
// access. This one has the same functions and leaves the choice open.
func planningEnv(p types.Provider, a types.Adapter, functions []expr.Function) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.StdLib(), cel.OptionalTypes(), cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true),
		library.URLs(), library.Regex(), library.Quantity(), library.IP(), library.CIDR(), library.Format(),
		library.Lists(library.ListsVersion(1)), library.SemverLib(library.SemverVersion(1)),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.Lists(ext.ListsVersion(3)), ext.TwoVarComprehensions(),
		ext.Math(ext.MathVersion(2)),
		cel.Variable(callVariable, callType),
		cel.CustomTypeProvider(p), cel.CustomTypeAdapter(a), // last: the libraries register their types before
	}
	env, err := cel.NewCustomEnv(append(options, functionOptions(functions)...)...)
	if err != nil {
		return nil, fmt.Errorf("the environment of programs: %w", err)
	}
	return env, nil
}
