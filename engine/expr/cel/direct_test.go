package cel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/allocations"
	"github.com/edict-dev/edict/test/budget"
)

// accesses writes expressions at random that read fields: those that have a direct
// form, and forms that have none among them.
type accesses struct{ *rand.Rand }

func (w accesses) of(list ...string) string { return list[w.IntN(len(list))] }

// any writes an expression of some type.
func (w accesses) any(depth int) string {
	if depth == 0 {
		return w.of("object", "d", "m", "l", "s", "n", `"a"`, `""`, "1", "true", "null", "key.name", "now", "d.a", "m.a", `m["b"]`, "l[0]", "object.spec", "object.metadata.labels",
			"variables.any", "variables.names", "inputs.byName", "inputs.byZone", "params.label", "params.limit")
	}
	a, name := w.any(depth-1), w.of("a", "b", "spec", "nodeName", "zones", "paused", "replicas", "labels", "metadata", "limits", "free")
	if w.IntN(5) == 0 {
		return w.loop(depth)
	}
	switch w.IntN(16) {
	case 10:
		return fmt.Sprintf(w.of(`conditions.find(%s, "%s")`, `conditions.since(%s, "%s")`), w.conditions(depth), w.of("a", "b", "c"))
	case 0, 1:
		return a + "." + name
	case 2, 3:
		return a + ".?" + name
	case 4:
		return a + "[" + w.any(depth-1) + "]"
	case 5:
		return a + "[?" + w.any(depth-1) + "]"
	case 6, 7:
		return a + ".?" + name + ".orValue(" + w.any(depth-1) + ")"
	case 8:
		return "(" + w.truth(depth-1) + " ? " + a + " : " + w.any(depth-1) + ")"
	case 9:
		return fmt.Sprintf(w.of("size(%s)", "dyn(%s)", "optional.of(%s)", "optional.ofNonZeroValue(%s)", "(%s).or(optional.of(1))", "int(%s)", "names.number(%s)", "quantity.value(%s)", "-%s"), a)
	}
	if w.IntN(3) == 0 {
		return w.truth(depth)
	}
	return a
}

// conditions writes what is mostly a list of conditions, or an optional one.
func (w accesses) conditions(depth int) string {
	return w.of("d", "l", "m.?conditions", "m.conditions", "d.?conditions", "variables.any.?a", "object.?status.conditions", "object.?status.?conditions", w.any(depth-1))
}

// loop writes a loop, or a value that is made.
func (w accesses) loop(depth int) string {
	over, v := w.of("l", "m", "variables.names", "inputs.byName", "object.spec.zones", w.any(depth-1)), w.of("v", "i", "s")
	body, truth := strings.ReplaceAll(w.any(depth-1), "d.a", v), strings.ReplaceAll(w.truth(depth-1), "d.b", v+` == "a"`)
	switch w.IntN(14) {
	case 0, 1:
		return over + ".filter(" + v + ", " + truth + ")"
	case 2, 3:
		return over + ".map(" + v + ", " + body + ")"
	case 4:
		return over + ".map(" + v + ", " + truth + ", " + body + ")"
	case 5:
		return over + w.of(".exists(", ".all(", ".exists_one(") + v + ", " + truth + ")"
	case 6:
		return over + ".transformMapEntry(k, " + v + ", {" + w.of("k", "string(k)", v, `"a"`) + ": " + body + "})"
	case 7:
		return over + w.of(".transformMap(k, ", ".transformList(k, ") + v + ", " + body + ")"
	case 9:
		return "[" + w.any(depth-1) + ", " + body + "]"
	case 10:
		return `{"a": ` + body + ", " + w.of(`"b"`, "s") + ": 1}"
	case 11:
		return "(" + over + " + " + w.any(depth-1) + ")"
	case 12:
		return "size(" + over + ".filter(" + v + ", " + truth + "))"
	}
	return w.any(depth-1) + w.of(".optMap(", ".optFlatMap(") + v + ", " + body + ")"
}

// truth writes an expression that is mostly true or false.
func (w accesses) truth(depth int) string {
	if depth == 0 {
		return w.of("true", "false", "d.b", "object.spec.paused", "initial", "n > 1", `s == "a"`)
	}
	a, b := w.any(depth-1), w.any(depth-1)
	switch w.IntN(13) {
	case 9:
		return fmt.Sprintf("conditions.isTrue(%s, %s)", w.conditions(depth), w.of(`"a"`, `"b"`, "s", "key.name"))
	case 0:
		return "!" + w.truth(depth-1)
	case 1, 2:
		return "(" + w.truth(depth-1) + w.of(" && ", " || ") + w.truth(depth-1) + ")"
	case 3:
		return "has(" + a + ".a)"
	case 4:
		return a + ".?" + w.of("a", "spec") + ".hasValue()"
	case 5:
		return "(" + a + " in " + b + ")"
	case 6:
		return a + `.startsWith("a")`
	case 7, 8:
		return "(" + a + w.of(" < ", " >= ", " <= ", " > ") + b + ")"
	}
	return "(" + a + w.of(" == ", " != ") + b + ")"
}

// json makes a value at random, with the fields that expressions read.
func (w accesses) json(depth int) any {
	switch w.IntN(9) {
	case 0:
		return nil
	case 1:
		return w.IntN(2) == 0
	case 2:
		return int64(w.IntN(3))
	case 3:
		return 1.5
	case 4:
		return w.of("", "a", "b", "3", "1Gi", "2026-03-01T12:00:00Z")
	case 5:
		if depth > 0 {
			return []any{w.json(depth - 1), w.json(depth - 1)}
		}
	}
	out := map[string]any{}
	for range w.IntN(5) {
		if depth > 0 {
			out[w.of("a", "b", "spec", "metadata", "labels", "nodeName", "zones")] = w.json(depth - 1)
		}
	}
	return out
}

// list makes conditions at random, with what is no condition among them.
func (w accesses) list() any {
	var out []any
	for range w.IntN(12) {
		c := map[string]any{"type": w.of("a", "b", "c"), "status": w.of("True", "False")}
		if w.IntN(2) == 0 {
			c["lastTransitionTime"] = "2026-03-01T12:00:00Z"
		}
		if out = append(out, c); w.IntN(5) == 0 {
			out = append(out, w.json(1))
		}
	}
	return out
}

func (w accesses) scope() names {
	scope := scoped()
	for _, name := range []string{"d", "variables.any"} {
		scope[name] = value.Freeze(w.json(4), nil, value.KeepAll)
	}
	m, _ := value.Freeze(map[string]any{"a": w.json(3), "spec": w.json(3), "conditions": w.list()}, nil, value.KeepAll).(*value.Map)
	scope["m"], scope["l"] = m, value.NewList([]value.Value{value.OfString("a"), m, value.OfInt(2)})
	scope["s"], scope["n"], scope["initial"] = value.OfString(w.of("a", "b", "")), value.OfInt(int64(w.IntN(3))), value.OfBool(w.IntN(2) == 0)
	scope["variables.names"], scope["key.namespace"] = value.NewList([]value.Value{value.OfString("a")}), value.OfString("")
	scope["inputs.byName"], scope["inputs.byZone"] = m, value.Empty
	if w.IntN(4) == 0 {
		scope["s"] = ErrorValue(fmt.Errorf("the variable failed"))
	}
	return scope
}

func accessEnv(t testing.TB) *Env {
	return declared(t, Var{"s", StringType}, Var{"n", IntType}, Var{"d", DynType}, Var{"m", MapOf(DynType)}, Var{"l", ListOf(DynType)})
}

// checkDirect compares what a seed gives with what the interpreter says, and
// reports whether it has a direct form, and whether that had an answer.
func checkDirect(t *testing.T, env *Env, seed uint64) (source string, form, answer bool) {
	t.Helper()
	w := accesses{rand.New(rand.NewPCG(seed, 1))}
	p, _ := wrong(env, w.any(1+w.IntN(4)))
	if p == nil || p.direct == nil {
		return "", false, false
	}
	for range 3 {
		scope := w.scope()
		charged, interpreted := expr.NewMeter(t.Context()), expr.NewMeter(t.Context())
		got := p.directly(scope, charged)
		want, err := p.interpret(scope, interpreted)
		charged.Close()
		interpreted.Close()
		if got == nil {
			if charged.Spent() != 0 || charged.Allocated() != 0 {
				t.Errorf("seed %d: %s gives up, and charges %d and %d bytes", seed, p.Source(), charged.Spent(), charged.Allocated())
			}
			continue
		}
		answer = true
		if err != nil || !alike(got, want) {
			t.Errorf("seed %d: %s\nis %v (%s), the interpreter says %v (%v)", seed, p.Source(), shown(got), got.Type(), shown(want), err)
		} else if charged.Spent() != interpreted.Spent() || charged.Allocated() != interpreted.Allocated() {
			t.Errorf("seed %d: %s costs %d and %d bytes, with the interpreter %d and %d", seed, p.Source(),
				charged.Spent(), charged.Allocated(), interpreted.Spent(), interpreted.Allocated())
		}
	}
	checkRows(t, p, w, seed)
	return p.Source(), true, answer
}

// checkRows compares what an expression gives for many rows at once with what it
// gives for each of them.
func checkRows(t *testing.T, p *Program, w accesses, seed uint64) {
	t.Helper()
	const n = 5
	scopes, columns := make([]names, n), map[string][]ref.Val{}
	outer := w.scope()
	for i := range scopes {
		scopes[i] = maps.Clone(outer)
		for _, name := range []string{"d", "m", "l", "s"} {
			if scopes[i][name] = w.scope()[name]; good(scopes[i][name]) == nil {
				scopes[i][name] = value.OfString("b")
			}
			columns[name] = append(columns[name], scopes[i][name])
		}
	}
	atOnce := p.direct.Rows(&direct.Batch{Rows: n, Columns: maps.Clone(columns), Scope: outer})
	charged := expr.NewMeter(t.Context())
	defer charged.Close()
	later := map[string]func() []ref.Val{"d": func() []ref.Val { return columns["d"] }}
	one := p.direct.Rows(&direct.Batch{Rows: n, Columns: without(columns, "d"), Later: later, Scope: outer, Meter: charged})
	var cost uint64
	for i := range scopes {
		meter := expr.NewMeter(t.Context())
		want, err := p.interpret(scopes[i], meter)
		meter.Close()
		for how, rows := range map[string][]ref.Val{"at once": atOnce, "row by row": one} {
			if rows != nil && rows[i] != nil && (err != nil || !alike(rows[i], want)) {
				t.Errorf("seed %d, row %d, %s: %s\nis %v (%s), the interpreter says %v (%v)", seed, i, how, p.Source(), shown(rows[i]), rows[i].Type(), shown(want), err)
			}
		}
		if atOnce != nil {
			rowsAnswered.Add(1)
		}
		if one != nil && one[i] != nil {
			cost += meter.Spent()
		}
	}
	if atOnce == nil && charged.Spent() != cost {
		t.Errorf("seed %d: rows of %s cost %d one by one, %d with the interpreter", seed, p.Source(), charged.Spent(), cost)
	}
}

func without(columns map[string][]ref.Val, name string) map[string][]ref.Val {
	out := maps.Clone(columns)
	delete(out, name)
	return out
}

// rowsAnswered counts rows that were computed at once.
var rowsAnswered atomic.Int64

func good(v ref.Val) ref.Val {
	if _, failed := v.(*types.Err); failed {
		return nil
	}
	return v
}

// alike compares types, too.
func alike(a, b ref.Val) bool {
	x, isOptional := a.(*types.Optional)
	y, _ := b.(*types.Optional)
	switch {
	case isOptional && y != nil:
		return x.HasValue() == y.HasValue() && (!x.HasValue() || alike(x.GetValue(), y.GetValue()))
	case isOptional || b == nil:
		return false
	}
	return a.Type() == b.Type() && shown(a) == shown(b)
}

func shown(v ref.Val) string {
	settled, err := value.Settle(v)
	if err != nil {
		return err.Error()
	}
	return value.Identity(settled)
}

// TestDirectIsTheInterpreter: where the direct form of an expression has an answer,
// it is the interpreter's; and it has one for most expressions that have no error.
func TestDirectIsTheInterpreter(t *testing.T) {
	t.Parallel()
	env, forms, answers, loops := accessEnv(t), 0, 0, map[string]int{}
	count := budget.Of(2_000, 8_000)
	for seed := range uint64(count) {
		source, form, answer := checkDirect(t, env, seed)
		for _, macro := range []string{".filter(", ".map(", ".exists(", ".all(", ".exists_one(", ".transformMapEntry(", ".transformMap(", ".transformList(", ".optMap(", "conditions."} {
			if answer && strings.Contains(source, macro) {
				loops[macro]++
			}
		}
		if form {
			forms++
		}
		if answer {
			answers++
		}
	}
	if forms < count*3/20 || answers < forms/3 {
		t.Errorf("%d expressions have a direct form, %d an answer", forms, answers)
	}
	if loops["conditions."] < count/160 {
		t.Errorf("%d expressions look for conditions", loops["conditions."])
	}
	if rows := rowsAnswered.Load(); rows < int64(count/4) {
		t.Errorf("%d rows were computed at once", rows)
	}
	t.Log(forms, answers, loops, rowsAnswered.Load())
}

// FuzzDirect is TestDirectIsTheInterpreter for other seeds.
func FuzzDirect(f *testing.F) {
	env := accessEnv(f)
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkDirect(t, env, seed) })
}

// TestDirectAnswers: what policies write most has a direct form, which answers and
// allocates nothing but the value.
func TestDirectAnswers(t *testing.T) {
	env, scope, meter := accessEnv(t), accesses{rand.New(rand.NewPCG(3, 1))}.scope(), expr.NewMeter(t.Context())
	for source, most := range map[string]float64{
		`!object.spec.paused && object.spec.nodeName == "node-a"`: 0, `object.metadata.?labels.?zone.orValue("") in variables.names`: 0,
		`object.?status.?phase.orValue("")`: 0, `has(object.spec.nodeName)`: 0, `object.spec.?missing.hasValue() ? 1 : 2`: 0,
		`object.spec.zones[0] == "a"`: 0, `object.spec.zones.exists(z, z == "b")`: 5, `object.spec.zones.filter(z, z != "b")`: 8,
		`object.spec.zones.map(z, z)[0] == "a"`: 8, `names.number(object.metadata.name) == ""`: 4, `size(object.spec.zones) > 1`: 0,
		`conditions.isTrue(object.?status.conditions, "Ready")`: 2,
	} {
		p, message := wrong(env, source)
		switch {
		case p == nil:
			if !strings.Contains(message, "no field") {
				t.Errorf("%s: %s", source, message)
			}
		case p.direct == nil:
			t.Errorf("%s has no direct form", source)
		case p.direct.Eval(scope, meter) == nil:
			t.Errorf("%s: the direct form gives up", source)
		default:
			if got := allocations.Fewest(func() { p.direct.Eval(scope, meter) }); got > most {
				t.Errorf("%s: %v allocations, want at most %v", source, got, most)
			}
		}
	}
}

// TestConditionsAreColumns: looking for a condition is evaluated for all rows at once;
// in a loop, and over a list that is made, it is charged.
func TestConditionsAreColumns(t *testing.T) {
	t.Parallel()
	env := accessEnv(t)
	rows, want := []ref.Val{}, []bool{}
	for i := range 6 {
		status := []string{"True", "False", "Unknown"}[i%3]
		rows = append(rows, object(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status}}}}))
		want = append(want, status == "True")
	}
	rows, want = append(rows, object(map[string]any{})), append(want, false)
	meter := expr.NewMeter(t.Context())
	defer meter.Close()
	for _, source := range []string{
		`conditions.isTrue(object.?status.conditions, "Ready")`, `conditions.find(object.?status.conditions, "Ready").?status.orValue("") == "True"`,
		`!conditions.isTrue(object.?status.conditions, "Ready") ? false : true`,
	} {
		p := compiled(t, env, source)
		got := p.Rows(&direct.Batch{Rows: len(rows), Columns: map[string][]ref.Val{"object": rows}}, meter)
		if len(got) != len(rows) {
			t.Fatalf("%s is not evaluated for all rows at once", source)
		}
		for i, v := range got {
			if v == nil || value.IsTrue(v) != want[i] {
				t.Errorf("%s: row %d is %v, want %t", source, i, v, want[i])
			}
		}
	}
	for _, source := range []string{`l.exists(x, conditions.isTrue(x.?status.conditions, "Ready"))`, `conditions.isTrue([d], "Ready")`} {
		if p := compiled(t, env, source); !p.metered {
			t.Errorf("%s is not charged", source)
		}
	}
}

// TestYAMLOfAnyText: both evaluators write texts with characters that YAML does not allow.
func TestYAMLOfAnyText(t *testing.T) {
	t.Parallel()
	p := compiled(t, accessEnv(t), "yaml.encode(d)")
	for r := rune(0); r <= 0x10ffff; r++ {
		switch r { // surrogates, and characters like many others
		case 0x300:
			r = 0xfd00
		case 0x10100:
			r = 0x10ff00
		}
		scope, meter := scoped(), expr.NewMeter(t.Context())
		scope["d"] = value.OfString("a" + string(r))
		got := p.directly(scope, meter)
		want, err := p.interpret(scope, meter)
		meter.Close()
		if err != nil || got == nil || !alike(got, want) {
			t.Fatalf("%U: %v, the interpreter says %v (%v)", r, got, want, err)
		}
	}
}
