package cel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/race"
)

// TestEveryOverloadIsDeclared: an environment with an overload of which nothing
// is declared cannot be made, and nothing is declared of what there is not.
func TestEveryOverloadIsDeclared(t *testing.T) {
	t.Parallel()
	env, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, overloads := range catalogue {
		for _, o := range overloads {
			if unused[o] {
				t.Errorf("%s is declared twice", o)
			}
			unused[o] = true
		}
	}
	for name, f := range env.planning.Functions() {
		for _, o := range f.OverloadDecls() {
			delete(unused, o.ID())
			d := env.demands.overloads[o.ID()]
			if n := len(o.ArgTypes()); d.metered() && n > len(callArgs{})+1 { // a builtin's Call is not charged for
				t.Errorf("%s of %s has %d arguments", o.ID(), name, n)
			}
			if d.metered() && o.IsNonStrict() {
				t.Errorf("%s of %s takes errors as arguments", o.ID(), name)
			}
		}
	}
	for o := range unused {
		t.Errorf("%s is declared, but there is none", o)
	}
	more, err := env.planning.Extend(cel.Function("mine", cel.Overload("mine_string", []*cel.Type{cel.StringType}, cel.StringType)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newDemands(more, builtins.Functions()); err == nil || !strings.Contains(err.Error(), "the overload mine_string of mine") {
		t.Errorf("an overload without a declaration is taken: %v", err)
	}
}

// TestBuiltinsDeclare: each builtin says what its calls need.
func TestBuiltinsDeclare(t *testing.T) {
	t.Parallel()
	for _, f := range builtins.Functions() {
		if (f.Needs == nil) == !f.Small {
			t.Errorf("%s has Needs: %v, Small: %v; one of them is wanted", f.Name, f.Needs != nil, f.Small)
		}
	}
}

// pool makes values of the types that functions take.
type pool struct{ *rand.Rand }

// odd are texts with what makes them longer when they are written or read.
var odd = []string{
	"", "a", "ab,cd,,e", "é", "\x00\x01\x1f", "\xff\xfe", "\"\\'", "<&>", "line\nline\n", "日本語", "%s %d %.3f %x", "1.2.3-rc.1+b", "10.0.0.1", "10.0.0.0/8", "1Gi", "9.99e10",
	"https://a:8/b?c=d&e=%20f#g", "2026-03-01T12:00:00Z", "90s", "a in (b, c),d", "[1, {\"a\": \"b\"}, null]", "a: &a [x, y]\nb: *a\n", "${A} $B ${C:-d}", "true", "12",
	"{\"a\":{\"b\":{\"c\":[1,2,3]}}}", "- a\n- b: |\n    c\n",
}

func (p pool) text() string {
	s := odd[p.IntN(len(odd))]
	switch p.IntN(6) {
	case 0:
		s += odd[p.IntN(len(odd))]
	case 1:
		s = strings.Repeat(s, p.IntN(300))
	}
	return s
}

func (p pool) of(t *cel.Type, depth int) ref.Val {
	switch t.Kind() {
	case types.StringKind:
		return types.String(p.text())
	case types.BytesKind:
		return types.Bytes(p.text())
	case types.IntKind:
		return types.Int(p.IntN(40) - 3)
	case types.UintKind:
		return types.Uint(p.IntN(40))
	case types.DoubleKind:
		return types.Double(p.Float64() * 1e9)
	case types.BoolKind:
		return types.Bool(p.IntN(2) == 0)
	case types.ListKind:
		return p.list(t.Parameters()[0], depth)
	case types.MapKind:
		return p.entries(t.Parameters()[1], depth)
	case types.OpaqueKind:
		if t.TypeName() == "optional_type" {
			return types.OptionalOf(p.of(t.Parameters()[0], depth))
		}
		return nil
	case types.DynKind, types.TypeParamKind, types.AnyKind:
		return p.any(depth)
	}
	return nil // a library's own, made by a function of it
}

func (p pool) any(depth int) ref.Val {
	scalars := []*cel.Type{cel.StringType, cel.IntType, cel.DoubleType, cel.BoolType, cel.StringType}
	if depth <= 0 {
		return p.of(scalars[p.IntN(len(scalars))], 0)
	}
	more := append(scalars, cel.ListType(cel.DynType), cel.MapType(cel.StringType, cel.DynType), cel.ListType(cel.StringType), cel.ListType(cel.ListType(cel.IntType)))
	return p.of(more[p.IntN(len(more))], depth-1)
}

func (p pool) list(of *cel.Type, depth int) ref.Val {
	n := []int{0, 1, 3, 40, 200}[p.IntN(5)]
	if depth < 2 {
		n = p.IntN(4)
	}
	items := make([]ref.Val, n)
	for i := range items {
		if items[i] = p.of(of, depth-1); items[i] == nil {
			return nil
		}
	}
	return p.maybeSettled(types.NewRefValList(types.DefaultTypeAdapter, items))
}

func (p pool) entries(of *cel.Type, depth int) ref.Val {
	out := map[string]ref.Val{}
	for range p.IntN(12) {
		v := p.of(of, depth-1)
		if v == nil {
			return nil
		}
		out[p.text()] = v
	}
	if p.IntN(2) == 0 {
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{"a": out["a"], "b": "c"})
	}
	given := make(map[ref.Val]ref.Val, len(out))
	for name, v := range out {
		given[types.String(name)] = v
	}
	return p.maybeSettled(types.NewRefValMap(types.DefaultTypeAdapter, given))
}

// maybeSettled returns what an expression makes as it is, or settled, as objects are.
func (p pool) maybeSettled(v ref.Val) ref.Val {
	if settled, err := value.Settle(v); err == nil && p.IntN(2) == 0 {
		return settled
	}
	return v
}

// newBytes is how many bytes a call's result has that its arguments do not: a list of
// their items has a place for each, a text is new.
func newBytes(v ref.Val) int {
	switch v := value.Unwrap(v).(type) {
	case types.String, types.Bytes:
		return textBytes(v)
	case *value.Map, *value.List:
		return 0 // of a builtin, which is measured by what it allocates
	case traits.Lister:
		return value.ScalarBytes * length(v)
	case traits.Mapper:
		return 2 * value.ScalarBytes * length(v)
	}
	return 0
}

// TestDeclaredIsEnough: no call makes more than what is declared of it, nor takes
// much more memory. The arguments are made at random of the types that each
// overload says, so that one that is added is tried as well.
func TestDeclaredIsEnough(t *testing.T) {
	env, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	p := pool{rand.New(rand.NewPCG(1, 2))} // the same values each time
	tried := 0
	functions := env.planning.Functions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, o := range functions[name].OverloadDecls() {
			d := env.demands.overloads[o.ID()]
			if !d.metered() || d.pattern {
				continue
			}
			call := &meteredCall{InterpretableCall: named{name, o.ID()}, demand: d, name: name, impl: env.demands.implementation(name, o.ID()), args: make([]interpretable, len(o.ArgTypes()))}
			for range 15 {
				args, ok := p.arguments(o.ArgTypes())
				if !ok {
					break
				}
				tried++
				judge(t, call, args)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d calls were tried", tried)
	}
}

func (p pool) arguments(list []*cel.Type) (args callArgs, ok bool) {
	for i, of := range list {
		if args[i] = p.of(of, 3); args[i] == nil {
			return args, false
		}
	}
	return args, true
}

func judge(t *testing.T, c *meteredCall, args callArgs) {
	t.Helper()
	shown := func() string { return fmt.Sprintf("%s: %.200q", c.OverloadID(), fmt.Sprint(args)) }
	need := c.demand.need(&args)
	if expr.NewMeter(t.Context()).Charge(c.name, need) != nil {
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result := c.call(&args)
	runtime.ReadMemStats(&after)
	if types.IsError(result) {
		return
	}
	if c.demand == summedDemand || c.demand == addedDemand && need == (expr.Need{}) {
		return // it gives one of the items, or the other of two lists
	}
	if has := newBytes(result); has > max(need.Text, need.Bytes) {
		t.Errorf("%s\nhas %d bytes, declared are %+v", shown(), has, need)
	}
	allowed := uint64(8*(need.Text+need.Bytes+need.Scratch) + 24*(&measure{}).deep(args[:]...) + 64<<10)
	if took := after.TotalAlloc - before.TotalAlloc; took > allowed && !race.Enabled { // the race detector drops what is pooled
		t.Errorf("%s\ntook %d bytes, more than %d, declared are %+v", shown(), took, allowed, need)
	}
}

// named is a call of which only the name is known.
type named struct{ function, overload string }

func (n named) Function() string                         { return n.function }
func (n named) OverloadID() string                       { return n.overload }
func (n named) Args() []interpretable                    { return nil }
func (n named) ID() int64                                { return 0 }
func (n named) Eval(interpreter.Activation) ref.Val      { return nil }
func (n named) Exec(*interpreter.ExecutionFrame) ref.Val { return nil }

type interpretable = interpreter.InterpretableV2
