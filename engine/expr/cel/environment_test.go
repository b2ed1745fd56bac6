package cel

import (
	"encoding/json"
	"testing"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/widgets"
)

// declared returns an environment with the names that a policy has.
func declared(t testing.TB, more ...Var) *Env {
	t.Helper()
	base, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	object := base.TypeOf(widgets.Type)
	env, err := base.With(append([]Var{
		{"object", object}, {"item", object}, {"key.name", StringType}, {"key.namespace", StringType}, {"now", TimestampType}, {"initial", BoolType},
		{"params.label", StringType}, {"params.limit", IntType}, {"params.labels", ListOf(StringType)},
		{"inputs.widgets", ListOf(object)}, {"inputs.byName", MapOf(object)}, {"inputs.byZone", MapOf(ListOf(object))}, {"inputs.pool", object},
		{"variables.names", ListOf(StringType)}, {"variables.any", DynType}, {"variables.map", MapOf(StringType)},
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return env.WithConstants(widgets.Params())
}

// numbers returns the list 0, 1, ... n-1.
func numbers(n int) *value.List {
	items := make([]value.Value, n)
	for i := range items {
		items[i] = value.OfInt(int64(i))
	}
	return value.NewList(items)
}

// object makes a widget of plain JSON values.
func object(plain map[string]any) value.Value { return widgets.Object(plain) }

// names is a scope of values by name.
type names = widgets.Scope

// wrong returns all that is wrong with an expression; "" when it compiles.
func wrong(env *Env, source string) (*Program, string) {
	var problems document.Problems
	p := env.Compile(Text{Source: source}, &problems)
	if p == nil {
		return nil, problems.Err().Error()
	}
	return p, ""
}

// compiled compiles an expression that is expected to be right.
func compiled(t *testing.T, env *Env, source string) *Program {
	t.Helper()
	p, message := wrong(env, source)
	if p == nil {
		t.Fatalf("%s: %s", source, message)
	}
	return p
}

// run runs a program and returns its result and what it cost.
func run(t *testing.T, p *Program, scope expr.Scope) (value.Value, uint64, error) {
	t.Helper()
	meter := expr.NewMeter(t.Context())
	defer meter.Close()
	v, err := p.Eval(scope, meter)
	return v, meter.Spent(), err
}

// evaluated returns the result of an expression as plain JSON.
func evaluated(t *testing.T, env *Env, source string, scope expr.Scope) any {
	t.Helper()
	v, _, err := run(t, compiled(t, env, source), scope)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return value.Plain(v)
}

// meterOf makes a meter that ends with the test.
func meterOf(t *testing.T) *expr.Meter {
	t.Helper()
	meter := expr.NewMeter(t.Context())
	t.Cleanup(meter.Close)
	return meter
}

// jsonOf writes a value; none for one that is not there.
func jsonOf(v value.Value) string {
	if v == nil {
		return "none"
	}
	out, err := json.Marshal(value.Plain(v))
	if err != nil {
		return err.Error()
	}
	return string(out)
}
