package bombs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// cases are all that there is to run.
func cases() []scenario {
	out := append([]scenario(nil), scenarios...)
	for _, list := range [][]bomb{textBombs, listBombs, builtinBombs} {
		for _, b := range list {
			out = append(out, scenario{name: b.name, spec: asVariable(b.source), data: b.data, want: b.want})
			if b.data == nil { // of constants only
				out = append(out, scenario{name: b.name + ", of constants", spec: asConstant(b.source), want: b.want})
			}
		}
	}
	return out
}

func configMap(namespace, name string, data map[string]string) simulate.Object {
	fields := map[string]any{}
	for k, v := range data {
		fields[k] = v
	}
	return simulate.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": namespace, "name": name, "uid": name}, "data": fields}
}

// run compiles the policy and decides by it, and returns what went wrong.
func (s *scenario) run(t testing.TB) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: bomb}\nspec:\n" + s.spec
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{file}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		return []string{err.Error()}
	}
	objects := []simulate.Object{configMap("d", "o", s.data)}
	if s.others > 0 {
		objects = []simulate.Object{configMap("e", "big", s.data)}
	}
	for i := range s.others {
		objects = append(objects, configMap("d", fmt.Sprint("o", i), nil))
	}
	world := simulate.New(t.Context(), simulate.Options{Policies: b.Policies, Schemas: b.Schemas, Objects: objects, Start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	world.Settle(t.Context())
	var out []string
	for _, e := range world.Result().Errors {
		out = append(out, e.Message)
	}
	return out
}

// check compares what went wrong with what must.
func (s *scenario) check(t testing.TB, got []string) {
	t.Helper()
	switch all := strings.Join(got, "\n"); {
	case s.want == "" && len(got) > 0:
		t.Errorf("it fails: %.400s", all)
	case s.want != "" && !strings.Contains(all, s.want):
		t.Errorf("got %.400q, want %q", all, s.want)
	}
}

// maxAllocated is what one case may allocate in all, garbage included, in MiB.
const maxAllocated = 1024

// TestCases: each ends with the error of its limit, before it has allocated much.
func TestCases(t *testing.T) {
	for _, s := range cases() {
		t.Run(s.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := s.run(t)
			runtime.ReadMemStats(&after)
			s.check(t, got)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			if s.others > 0 {
				allocated /= uint64(s.others) // so many evaluations
			}
			if allocated > maxAllocated {
				t.Errorf("%d MiB were allocated", allocated)
			}
		})
	}
}
