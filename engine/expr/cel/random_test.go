package cel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/bombs/child"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/race"
)

// writer writes expressions at random, of the functions that an environment
// declares: one that is added is used as well.
type writer struct {
	*rand.Rand
	// byResult are the overloads by what they give, in order.
	byResult map[types.Kind][]overload
	// charged are those that are charged ahead: they are taken more often.
	charged map[types.Kind][]overload
	names   map[types.Kind][]string
	bound   []string
}

type overload struct {
	function string
	*decls.OverloadDecl
}

func newWriter(env *Env, seed uint64) *writer {
	w := &writer{
		Rand: rand.New(rand.NewPCG(seed, 0)), // the same expressions for the same seed
		names: map[types.Kind][]string{
			types.StringKind: {"s", "big", "key.name"}, types.IntKind: {"n"}, types.DynKind: {"d", "object.spec.free", "bigs"},
			types.MapKind: {"object.spec.limits", "m"}, types.ListKind: {"numbers", "bigs", "object.spec.zones", "lists.range(1000)"},
		},
		byResult: map[types.Kind][]overload{}, charged: map[types.Kind][]overload{},
	}
	functions := env.planning.Functions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if strings.HasPrefix(name, "@") || strings.Contains(name, ".@") || strings.HasPrefix(name, "__") || authorization[name] && name != "first" {
			continue
		}
		for _, o := range functions[name].OverloadDecls() {
			kind := o.ResultType().Kind()
			w.byResult[kind] = append(w.byResult[kind], overload{name, o})
			if env.demands.overloads[o.ID()].metered() {
				w.charged[kind] = append(w.charged[kind], overload{name, o})
			}
		}
	}
	return w
}

// write writes an expression of a type.
func (w *writer) write(t *cel.Type, depth int) string {
	kind := t.Kind()
	if kind == types.TypeParamKind || kind == types.AnyKind || kind == types.DynKind {
		kind = []types.Kind{types.StringKind, types.IntKind, types.ListKind, types.BoolKind, types.DynKind}[w.IntN(5)]
	}
	if kind == types.ListKind && depth > 0 && w.IntN(3) == 0 {
		return w.loop(t, depth)
	}
	list := w.byResult[kind]
	if w.IntN(3) > 0 && len(w.charged[kind]) > 0 {
		list = w.charged[kind]
	}
	if depth > 0 && len(list) > 0 && w.IntN(5) > 0 {
		return w.call(list[w.IntN(len(list))], depth-1)
	}
	return w.leaf(kind)
}

func (w *writer) leaf(kind types.Kind) string {
	if list := append(slices.Clone(w.names[kind]), w.bound...); len(list) > 0 && w.IntN(3) > 0 {
		return list[w.IntN(len(list))]
	}
	switch kind {
	case types.StringKind:
		return strconv.Quote([]string{"", "a", ",", "ab", "%s", "1Gi", "^a+$"}[w.IntN(7)])
	case types.IntKind:
		return strconv.Itoa([]int{0, 1, 3, 100, 9999, 1000000}[w.IntN(6)])
	case types.DoubleKind:
		return "1.5"
	case types.BoolKind:
		return "true"
	case types.ListKind:
		return "[1, 2]"
	case types.MapKind:
		return `{"a": s}`
	case types.TimestampKind:
		return `timestamp("2026-03-01T12:00:00Z")`
	case types.DurationKind:
		return `duration("1h")`
	case types.BytesKind:
		return "bytes(big)"
	}
	return "dyn(s)"
}

func (w *writer) loop(t *cel.Type, depth int) string {
	over := w.write(cel.ListType(cel.DynType), depth-1)
	name := fmt.Sprint("v", len(w.bound))
	w.bound = append(w.bound, name)
	defer func() { w.bound = w.bound[:len(w.bound)-1] }()
	if w.IntN(4) == 0 {
		return over + ".filter(" + name + ", " + w.write(cel.BoolType, depth-1) + ")"
	}
	return over + ".map(" + name + ", " + w.write(ElemType(t), depth-1) + ")"
}

func (w *writer) call(o overload, depth int) string {
	args := make([]string, 0, len(o.ArgTypes()))
	for _, of := range o.ArgTypes() {
		if of.TypeName() != callType.TypeName() {
			args = append(args, w.write(of, depth))
		}
	}
	switch o.function {
	case operators.Index:
		return args[0] + "[" + args[1] + "]"
	case operators.Conditional:
		return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
	case "matches", "find", "findAll":
		args[1] = `"(a|b)*c?[a-z]{0,9}"`
	}
	if shown, ok := operators.FindReverse(o.function); ok && shown != "" {
		if len(args) == 1 {
			return shown + "(" + args[0] + ")"
		}
		return "(" + strings.Join(args, " "+shown+" ") + ")"
	}
	if o.IsMemberFunction() {
		return "(" + args[0] + ")." + o.function + "(" + strings.Join(args[1:], ", ") + ")"
	}
	return o.function + "(" + strings.Join(args, ", ") + ")"
}

// expressions returns n expressions that compile, and the scope that they are for.
func expressions(t *testing.T, seed uint64, n int) ([]*Program, names) {
	t.Helper()
	env := declared(t, Var{"s", StringType}, Var{"big", StringType}, Var{"n", IntType}, Var{"d", DynType}, Var{"m", MapOf(DynType)},
		Var{"numbers", ListOf(IntType)}, Var{"bigs", ListOf(StringType)})
	big := strings.Repeat("a", 900_000)
	bigs := make([]value.Value, 3000)
	for i := range bigs {
		bigs[i] = value.OfString(big)
	}
	scope := scoped()
	maps.Copy(scope, names{
		"s": value.OfString("ab,c"), "big": value.OfString(big), "n": value.OfInt(30), "d": value.Freeze(map[string]any{"a": []any{big, big, "x"}}, nil, value.KeepAll),
		"m": value.FromMap(map[string]value.Value{"a": value.OfString(big), "b": value.OfInt(1)}), "numbers": numbers(5000), "bigs": value.Borrowed(value.NewList(bigs)),
		CallVariable: CallValue(&expr.Call{Recall: func(string) value.Value { return nil }}),
	})
	w := newWriter(env, seed)
	results := []*cel.Type{cel.StringType, cel.IntType, cel.BoolType, cel.ListType(cel.DynType), cel.MapType(cel.StringType, cel.DynType), cel.DynType}
	var out []*Program
	for tries := 0; len(out) < n && tries < 200*n; tries++ {
		var problems document.Problems
		if p := env.Compile(Text{Source: w.write(results[w.IntN(len(results))], 1+w.IntN(4))}, &problems); p != nil {
			out = append(out, p)
		}
	}
	return out, scope
}

// TestRandomExpressions: none ends the process, takes much memory, or comes to
// more than its meter allowed.
func TestRandomExpressions(t *testing.T) {
	const seed = 7
	count := budget.Of(200, 400)
	t.Logf("seed %d", seed)
	programs, scope := expressions(t, seed, count)
	functions := map[string]bool{}
	for _, p := range programs {
		meter := expr.NewMeter(t.Context())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := p.Eval(scope, meter)
		runtime.ReadMemStats(&after)
		meter.Close()
		// With the race detector, counting characters allocates.
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 1024 && !race.Enabled {
			t.Errorf("%s: %d MiB were allocated", p.Source(), took)
		}
		if err == nil && (value.Weight(v) > value.MaxResultNodes || meter.Allocated() > expr.EvaluationBytes || meter.Spent() > expr.EvaluationCost) {
			t.Errorf("%s: weighs %d, %d bytes, %d units", p.Source(), value.Weight(v), meter.Allocated(), meter.Spent())
		}
		for name := range calledBy(p) {
			functions[name] = true
		}
	}
	if len(programs) < count || len(functions) < 60 {
		t.Errorf("%d expressions of %d functions", len(programs), len(functions))
	}
}

// calledBy are the functions that an expression calls.
func calledBy(p *Program) map[string]bool {
	out := map[string]bool{}
	for _, r := range p.checked.NativeRep().ReferenceMap() {
		for _, o := range r.OverloadIDs {
			out[o] = true
		}
	}
	return out
}

// Batches of expressions, each in a process of its own.
const (
	batches = 20
	batch   = 500
)

// TestRandomInProcesses runs ten thousand expressions with little memory. It
// needs EDICT_TEST_FAULT; EDICT_TEST_SEED gives others than the usual ones.
func TestRandomInProcesses(t *testing.T) {
	if os.Getenv("EDICT_TEST_FAULT") == "" || child.Asked() != "" {
		t.Skip("EDICT_TEST_FAULT is not set")
	}
	seed, _ := strconv.Atoi(os.Getenv("EDICT_TEST_SEED"))
	for i := range batches {
		asked := strconv.Itoa(1000*seed + i)
		u := child.Run(t.Context(), "TestRandomChild", asked)
		if u.Err != nil || u.Resident > child.Memory {
			t.Errorf("seed %s: %v, %d MiB, %v\n%s", asked, u.Err, u.Resident>>20, u.CPU, u.Output[max(0, len(u.Output)-4000):])
		}
	}
}

// TestRandomChild is what a child runs: one batch.
func TestRandomChild(t *testing.T) {
	seed, err := strconv.ParseUint(child.Asked(), 10, 64)
	if err != nil {
		t.Skip("this is no child")
	}
	child.Limit(t)
	programs, scope := expressions(t, seed, batch)
	for _, p := range programs {
		fmt.Fprintln(os.Stderr, p.Source()) // the last one is the one that ended the process
		begin := child.Spent()
		meter := expr.NewMeter(t.Context())
		_, _ = p.Eval(scope, meter)
		meter.Close()
		if took := child.Spent() - begin; took > child.CPU {
			t.Errorf("%s: took %v", p.Source(), took)
		}
	}
	if len(programs) < batch {
		t.Errorf("only %d expressions could be compiled", len(programs))
	}
}
