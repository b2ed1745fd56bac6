package properties

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/budget"
)

// table is the decision about one kernel module on one node, row by row as the
// requirement has it, in CEL. It is written without looking at the Rego that
// is shipped: each is the other's oracle.
var table = []struct{ when, then string }{
	// gone with the reboot into another kernel, or, where the boot IDs decide, with any
	{`spec == null && status != null && ready && (status.config.kernelVersion != kernel || rebooted)`, "drop"},
	// the node may not be touched
	{`!schedulable`, "none"},
	{`spec == null && status == null`, "none"},
	{`status == null`, `spec.config.kernelVersion == kernel ? "load" : "none"`},
	{`spec == null`, `status.config.kernelVersion == kernel ? "unload" : "none"`},
	{`!same && status.config.kernelVersion == kernel && !rebooted`, "unload"},
	{`!same`, `spec.config.kernelVersion == kernel ? "load" : "none"`},
	{`spec.config.kernelVersion != kernel`, "none"},
	// loaded before the node started anew
	{`bootID != "" && status.?bootId.orValue("") != "" && bootID != status.bootId`, "load"},
	{`trust && bootID != "" && status.?bootId.orValue("") != ""`, "none"},
	{`!has(status.lastTransitionTime)`, `bootID != "" && status.?bootId.orValue("") != "" ? "none" : "load"`},
	{`since == ""`, "none"},
	{`timestamp(since) > timestamp(status.lastTransitionTime)`, "load"},
	{`true`, "none"},
}

// same compares two configs; without a pull policy it is IfNotPresent.
const same = `spec != null && status != null
 && (spec.config.map(k, k) + status.config.map(k, k)).all(k, k == "imagePullPolicy" || spec.config[?k] == status.config[?k])
 && (spec.config.?imagePullPolicy.orValue("") in ["", "IfNotPresent"] ? status.config.?imagePullPolicy.orValue("") in ["", "IfNotPresent"]
 : spec.config.imagePullPolicy == status.config.?imagePullPolicy.orValue(""))`

// rebooted asks for two boot IDs that differ, where these decide alone.
const rebooted = `trust && status != null && bootID != "" && status.?bootId.orValue("") != "" && bootID != status.bootId`

// celTable is the table, compiled.
type celTable struct {
	same, rebooted *cel.Program
	rows           [][2]*cel.Program
}

func newTable(t *testing.T) *celTable {
	t.Helper()
	env, err := cel.NewEnv(builtins.Functions())
	if err == nil {
		env, err = env.With(
			cel.Var{Name: "spec", Type: cel.DynType}, cel.Var{Name: "status", Type: cel.DynType}, cel.Var{Name: "same", Type: cel.BoolType},
			cel.Var{Name: "trust", Type: cel.BoolType}, cel.Var{Name: "rebooted", Type: cel.BoolType},
			cel.Var{Name: "ready", Type: cel.BoolType}, cel.Var{Name: "schedulable", Type: cel.BoolType}, cel.Var{Name: "kernel", Type: cel.StringType},
			cel.Var{Name: "bootID", Type: cel.StringType}, cel.Var{Name: "since", Type: cel.StringType})
	}
	if err != nil {
		t.Fatal(err)
	}
	compile := func(text string) *cel.Program {
		var problems document.Problems
		p := env.Compile(cel.Text{Source: text}, &problems)
		if p == nil {
			t.Fatalf("%s: %v", text, problems.Err())
		}
		return p
	}
	out := &celTable{same: compile(same), rebooted: compile(rebooted)}
	for _, row := range table {
		then := row.then
		if len(then) < 7 {
			then = `"` + then + `"`
		}
		out.rows = append(out.rows, [2]*cel.Program{compile(row.when), compile(then)})
	}
	return out
}

func (c *celTable) decide(t *testing.T, names map[string]value.Value) string {
	t.Helper()
	meter := expr.NewMeter(t.Context())
	defer meter.Close()
	equal, err := c.same.Eval(cel.ConstScope(names), meter)
	if err != nil {
		t.Fatal(err)
	}
	names["same"] = equal
	if names["rebooted"], err = c.rebooted.Eval(cel.ConstScope(names), meter); err != nil {
		t.Fatal(err)
	}
	for _, row := range c.rows {
		holds, err := row[0].Eval(cel.ConstScope(names), meter)
		if err != nil {
			t.Fatalf("%s: %v", row[0].Source(), err)
		}
		if value.IsTrue(holds) {
			out, err := row[1].Eval(cel.ConstScope(names), meter)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := value.Str(out)
			return text
		}
	}
	return ""
}

// situation makes the names of a case, and the same as input of the Rego.
func situation(r *rand.Rand) (names map[string]value.Value, input value.Value) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	ready := r.IntN(5) > 0
	schedulable := ready && r.IntN(5) > 0
	in := map[string]any{"nodeReady": ready, "schedulable": schedulable, "kernel": pick("5.14", "6.1"), "trustBootID": r.IntN(2) == 0}
	config := func() map[string]any {
		c := map[string]any{"kernelVersion": pick("5.14", "6.1"), "containerImage": pick("a", "a", "b"), "insecurePull": r.IntN(8) == 0}
		if p := pick("-", "", "IfNotPresent", "Always", "-"); p != "-" {
			c["imagePullPolicy"] = p
		}
		if r.IntN(3) == 0 {
			c["modprobe"] = map[string]any{"moduleName": pick("m", "n")}
		}
		return c
	}
	if r.IntN(4) > 0 {
		in["spec"] = map[string]any{"config": config(), "version": pick("1", "2")}
	}
	if r.IntN(4) > 0 {
		status := map[string]any{"config": config()}
		if spec, ok := in["spec"].(map[string]any); ok && r.IntN(2) == 0 {
			status["config"] = spec["config"]
		}
		if r.IntN(3) > 0 {
			status["lastTransitionTime"] = pick("2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", "2026-03-01T12:00:00+01:00")
		}
		if r.IntN(2) == 0 {
			status["bootId"] = pick("one", "two", "")
		}
		in["status"] = status
	}
	boot, since := "", ""
	if r.IntN(3) > 0 {
		boot = pick("one", "two", "")
		in["bootID"] = boot
	}
	if r.IntN(5) > 0 {
		since = pick("2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", "2026-03-01T11:30:00Z")
		in["readySince"] = since
	}
	frozen := func(name string) value.Value { return value.Freeze(in[name], nil, value.KeepAll) }
	return map[string]value.Value{
		"spec": frozen("spec"), "status": frozen("status"), "ready": value.OfBool(ready), "schedulable": value.OfBool(schedulable),
		"kernel": frozen("kernel"), "trust": frozen("trustBootID"), "bootID": value.OfString(boot), "since": value.OfString(since),
	}, value.Freeze(in, nil, value.KeepAll)
}

// TestRegoAgreesWithTheSameTableInCEL decides generated cases in both languages.
func TestRegoAgreesWithTheSameTableInCEL(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "policies", "kmm-node-modules.rego"))
	if err != nil {
		t.Fatal(err)
	}
	library, problems, _ := rego.Compile(rego.Local(), []rego.Module{{Name: "kmm-node-modules.rego", Text: string(text)}})
	if library == nil {
		t.Fatal(document.Join(problems))
	}
	query, problem := library.Query("data.kmm.nmc.decision", document.Position{})
	if problem != nil {
		t.Fatal(problem)
	}
	oracle := newTable(t)
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	seen, count := map[string]int{}, budget.Of(4000, 10_000)
	t.Logf("seed %d, %d cases", seed, count)
	for i := range count {
		names, input := situation(r)
		meter := expr.NewMeter(t.Context())
		got, err := query.Eval(t.Context(), meter, time.Time{}, input)
		meter.Close()
		if err != nil {
			t.Fatalf("case %d: %v: %v", i, value.Plain(input), err)
		}
		decision, _ := value.Str(got)
		if want := oracle.decide(t, names); want != decision {
			t.Fatalf("case %d: %v:\nCEL says %s, Rego says %s", i, value.Plain(input), want, decision)
		}
		seen[decision]++
	}
	for _, decision := range []string{"load", "unload", "drop", "none"} {
		if seen[decision] < count/20 {
			t.Errorf("%s comes %d times only: %v", decision, seen[decision], seen)
		}
	}
}
