package analyze

import (
	"testing"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/widgets"
)

// roots are those of the names that are objects.
var roots = map[string]Root{
	"object": Object, "item": {Kind: Members}, "inputs.pool": {Input, 0}, "inputs.widgets": {Input, 1}, "inputs.byName": {Input, 2}, "inputs.byZone": {Input, 3},
}

func rootName(r Root) string {
	for name, root := range roots {
		if root == r {
			return name
		}
	}
	return "unknown"
}

// environment returns one with the names that a policy has.
func environment(t *testing.T) *cel.Env {
	t.Helper()
	base, err := cel.NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	object := base.TypeOf(widgets.Type)
	env, err := base.With(
		cel.Var{Name: "object", Type: object}, cel.Var{Name: "item", Type: object}, cel.Var{Name: "key.name", Type: cel.StringType}, cel.Var{Name: "key.namespace", Type: cel.StringType},
		cel.Var{Name: "now", Type: cel.TimestampType}, cel.Var{Name: "initial", Type: cel.BoolType},
		cel.Var{Name: "params.label", Type: cel.StringType}, cel.Var{Name: "params.limit", Type: cel.IntType}, cel.Var{Name: "params.labels", Type: cel.ListOf(cel.StringType)},
		cel.Var{Name: "inputs.widgets", Type: cel.ListOf(object)}, cel.Var{Name: "inputs.byName", Type: cel.MapOf(object)}, cel.Var{Name: "inputs.byZone", Type: cel.MapOf(cel.ListOf(object))},
		cel.Var{Name: "inputs.pool", Type: object}, cel.Var{Name: "variables.names", Type: cel.ListOf(cel.StringType)}, cel.Var{Name: "variables.any", Type: cel.DynType},
		cel.Var{Name: "variables.map", Type: cel.MapOf(cel.StringType)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return env.WithConstants(widgets.Params())
}

// object makes a widget of plain JSON values.
func object(plain map[string]any) value.Value { return widgets.Object(plain) }

// names is a scope of values by name.
type names = widgets.Scope

// compiled compiles an expression that is expected to be right.
func compiled(t *testing.T, env *cel.Env, source string) *cel.Program {
	t.Helper()
	var problems document.Problems
	p := env.Compile(cel.Text{Source: source}, &problems)
	if p == nil {
		t.Fatalf("%s: %s", source, problems.Err().Error())
	}
	return p
}

// run runs a program.
func run(t *testing.T, p *cel.Program, scope expr.Scope) (value.Value, error) {
	t.Helper()
	return p.Eval(scope, meterOf(t))
}

// meterOf makes a meter that ends with the test.
func meterOf(t *testing.T) *expr.Meter {
	t.Helper()
	meter := expr.NewMeter(t.Context())
	t.Cleanup(meter.Close)
	return meter
}
