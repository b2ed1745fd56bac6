package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// manyVariables is a policy with so many variables of one expression; each %d in it is the
// number of the variable.
func manyVariables(n int, expression string) string {
	var out strings.Builder
	out.WriteString("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  variables:\n")
	for i := range n {
		fmt.Fprintf(&out, "    - {name: v%d, expression: '%s'}\n", i, strings.ReplaceAll(expression, "%d", fmt.Sprint(i)))
	}
	out.WriteString("  rules: [{name: r, do: [{log: {message: done}}]}]\n")
	return out.String()
}

// TestKept holds what is counted of policies to between half and double of what they keep.
// It runs by itself, since it measures the heap.
func TestKept(t *testing.T) {
	texts := map[string]string{
		"many variables": manyVariables(500, `size(object.data) > %d && object.metadata.name == "a" && object.metadata.namespace == "b"`),
		"some":           manyVariables(50, `size(object.data) > %d && object.metadata.name == "a" && object.metadata.namespace == "b"`),
		"macros":         manyVariables(100, `object.metadata.?labels.orValue({}).map(k, k).filter(k, k.startsWith("a")).size() > %d`),
		"loops":          manyVariables(40, `lists.range(10).map(i, lists.range(i).map(j, i * j)).size() > %d`),
		"patterns":       manyVariables(120, `object.data.a.matches("(a|b%d){1,100}(c|d){1,90}")`),
	}
	var kinds, inputs []string
	for i := range 20 {
		kinds = append(kinds, fmt.Sprintf("{apiVersion: g%d/v1, kind: K}", i))
		inputs = append(inputs, fmt.Sprintf("{name: a%d, apiVersion: v1, kind: Pod, where: item.metadata.name == key.name}", i))
	}
	const withInputs = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  inputs: [%s]\n  rules: [{name: r, when: %s, do: [{log: {message: done}}]}]\n"
	texts["kinds"] = fmt.Sprintf(withInputs, "{name: a, kinds: ["+strings.Join(kinds, ", ")+"], where: item.metadata.name == key.name}", "size(inputs.a) > 0")
	texts["inputs"] = fmt.Sprintf(withInputs, strings.Join(inputs, ", "), "size(inputs.a0) + size(inputs.a19) > 0")
	for _, name := range []string{"storage-pool-eligibility", "replica-scheduling", "configmap-restart", "agent-node-label"} {
		text, err := os.ReadFile("../../policies/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	name := regexp.MustCompile(`(?m)^(metadata:(?: \{|\s+)name: )[-a-z]+`)
	for shape, text := range texts {
		_, _ = live(t, name, text, 1) // what all policies share is made once
		one, _ := live(t, name, text, 1)
		many, counted := live(t, name, text, 5)
		measured := (many - one) / 4
		t.Logf("%s: %d bytes are counted, %d measured", shape, counted, measured)
		if counted < measured/2 || counted > 2*measured {
			t.Errorf("%s: %d bytes are counted, %d measured", shape, counted, measured)
		}
	}
}

// live returns what so many policies with a text keep, each pattern used, and what is counted
// of one.
func live(t *testing.T, name *regexp.Regexp, text string, n int) (bytes, counted int) {
	t.Helper()
	folder := t.TempDir()
	for i := range n {
		text := name.ReplaceAllString(text, fmt.Sprint("${1}p", i))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("p%d.yaml", i)), []byte(strings.ReplaceAll(text, "(a|b", fmt.Sprint("(a|b", i, "x"))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	b, err := source.Load([]string{folder}, source.Options{Schemas: []string{"../../policies/schemas"}})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	for _, p := range b.Policies {
		usePatterns(t, p)
	}
	bytes, counted = heap()-before, b.Policies[0].Kept
	runtime.KeepAlive(b)
	return bytes, counted
}

func heap() int {
	var m runtime.MemStats
	for range 2 { // what a first run finalizes, the second frees
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// usePatterns evaluates the variables of a policy that have a pattern.
func usePatterns(t *testing.T, p *plan.Policy) {
	t.Helper()
	object := value.Freeze(map[string]any{"data": map[string]any{"a": "x"}}, nil, value.KeepAll)
	for _, v := range p.Variables {
		if v.Program == nil || !strings.Contains(v.Program.Source(), "data.a.matches(") {
			continue
		}
		if _, err := v.Program.Eval(objectScope{object}, expr.NewMeter(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
}

// objectScope has the name object.
type objectScope struct{ object value.Value }

func (s objectScope) ResolveName(name string) (any, bool) { return s.object, name == "object" }

func (s objectScope) Parent() interpreter.Activation { return nil }
