package check

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/race"
)

// newTestJudge returns a Judge whose process is this binary; starts counts them.
func newTestJudge(t *testing.T) (j *Judge, starts *atomic.Int32) {
	t.Helper()
	memory := int64(192 << 20)
	if race.Enabled {
		memory = 0 // its runtime takes more
	}
	starts = &atomic.Int32{}
	c := child.New(child.Options{
		Process: "the process that compiles policies", Command: []string{os.Args[0], "serve", strconv.FormatInt(memory, 10)}, Memory: memory,
		Started: func(int) { starts.Add(1) },
	})
	t.Cleanup(c.Close)
	return NewJudge(func(name string, _ time.Duration) expr.Limiter { return c.Service(name, time.Second) }), starts
}

// labelling has a policy that labels Nodes with a value.
func labelling(name, value string) *source.Contents {
	return source.Read(nil, &source.ConfigMap{Namespace: "ns", Name: name, Data: map[string]string{"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name +
		"}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules:\n    - name: mark\n      do: [{labels: {set: {a: \"" + value + "\"}}}]\n"}})
}

func nodes() *schema.Set { return schema.NewSet(schema.Builtin()) }

// withCRD returns the types of Nodes and of a custom kind.
func withCRD(t *testing.T) *schema.Set {
	t.Helper()
	known := nodes()
	if err := known.AddCRD([]byte(`{"kind": "CustomResourceDefinition", "spec": {"group": "a.io", "names": {"kind": "A", "plural": "as"}, "versions": [
		{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}}}]}}`)); err != nil {
		t.Fatal(err)
	}
	return known
}

// TestJudge: a text that takes too much is refused with the limit that it met, and is not
// tried again; one whose process ended by itself is. Others are compiled meanwhile.
func TestJudge(t *testing.T) {
	t.Parallel()
	j, starts := newTestJudge(t)
	known, compiler := withCRD(t), source.NewCompiler(rego.Local(), j.Accept)
	compile := func(ctx context.Context, name, value string) error {
		p, problems, err := compiler.Compile(ctx, labelling(name, value).Units[0], known)
		if err == nil && p == nil {
			t.Error(problems)
		}
		return err
	}
	good := func(value string) {
		t.Helper()
		if err := compile(t.Context(), "good", value); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		value, want string
		limit       bool
		starts      int32 // by two attempts, each with a good text after it
	}{
		{"takes-time", "the policy bad of ns/bad is not loaded: its compilation takes more than 2s of processor time; make its", true, 1},
		{"takes-memory", "it needs more than the 192 MiB of memory that the process that compiles policies may have; make its expressions and modules smaller", true, 3},
		{"takes-life", "it cannot be compiled, and is tried again: the process that compiles policies ended", false, 6},
	} {
		if race.Enabled && c.value == "takes-memory" {
			continue
		}
		good("before-" + c.value[6:])
		before := starts.Load()
		for i := range 2 {
			if err := compile(t.Context(), "bad", c.value); err == nil || errors.Is(err, source.ErrLimit) != c.limit || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.value, err)
			}
			good(fmt.Sprint("after-", i, c.value[6:]))
		}
		if got := starts.Load() - before; got != c.starts {
			t.Errorf("%s: %d processes, want %d", c.value, got, c.starts)
		}
	}
	before := starts.Load()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := compile(ctx, "late", "takes-time"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, source.ErrLimit) {
		t.Errorf("nobody waits for it: %v", err)
	}
	if good("last"); starts.Load() != before+1 {
		t.Errorf("%d processes, want one", starts.Load()-before)
	}
}

// TestOneTextDelaysNoOther: of the policies of ConfigMaps that are read together, those that
// can be compiled are.
func TestOneTextDelaysNoOther(t *testing.T) {
	t.Parallel()
	j, _ := newTestJudge(t)
	c := New(Options{
		Kinds: discovery.New(meta.NewDefaultRESTMapper(nil), nil, nodes(), time.Second), Judge: j, Compiler: source.NewCompiler(rego.Local(), j.Accept), Guard: func() guard.Guard { return guard.New(nil).Assuming() }, Log: slog.New(slog.DiscardHandler),
	})
	policies := lifecycle.NewRegistry()
	catalog := source.NewCatalog([]*source.Contents{labelling("a", "takes-time"), labelling("b", "x"), labelling("c", "takes-time"), labelling("d", "x")}, nil)
	c.All(t.Context(), catalog, policies, func(string, *source.Unit) bool { return false })
	for id, good := range map[string]bool{"a": false, "b": true, "c": false, "d": true} {
		v := policies.Get(id).Newest
		if v.Good() != good || !good && (len(v.Problems) != 1 || v.Problems[0].Position != v.Unit.Document.Pos) {
			t.Errorf("%s: good %v: %v", id, v.Good(), v.Problems)
		}
	}
}

// TestTypesCross: the other process knows the kinds that this one does.
func TestTypesCross(t *testing.T) {
	t.Parallel()
	known := withCRD(t)
	served := schema.NewSet(nil)
	if err := served.AddOpenAPI([]byte(`{"components": {"schemas": {"w": {"type": "object", "properties": {"metadata": {"type": "object"}},
		"x-kubernetes-group-version-kind": [{"group": "b.io", "version": "v1", "kind": "B"}]}}}}`)); err != nil {
		t.Fatal(err)
	}
	all := schema.NewSet(known)
	all.Join(served)
	texts := &Texts{sets: map[string]*schema.Set{}}
	if err := texts.read(&request{Types: "a", Texts: all.Texts()}); err != nil {
		t.Fatal(err)
	}
	got := texts.sets["a"]
	for _, kind := range []schema.GVK{{APIVersion: "a.io/v1", Kind: "A"}, {APIVersion: "b.io/v1", Kind: "B"}, {APIVersion: "v1", Kind: "Node"}} {
		if _, ok := got.Kind(kind); !ok {
			t.Errorf("%s is not known", kind)
		}
	}
	if field := got.Of(schema.GVK{APIVersion: "a.io/v1", Kind: "A"}).Field("spec").Field("n"); field.Kind != schema.Int {
		t.Errorf("its field is a %v", field.Kind)
	}
}

// TestCompiledOnce: a text that the webhook has compiled is judged and compiled no more when the
// controller checks it, runs its tests and starts it; another text is.
func TestCompiledOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	compiler := source.NewCompiler(rego.Local(), func(context.Context, *source.Unit, *schema.Set) error { asked++; return nil })
	o := Options{
		Kinds: discovery.New(meta.NewDefaultRESTMapper(nil), nil, nodes(), time.Second), Compiler: compiler, Guard: func() guard.Guard { return guard.New(nil).Assuming() }, Log: slog.New(slog.DiscardHandler),
	}
	controller := New(o)
	o.Admitting = true
	webhook := New(o)
	edit := func(value string) *lifecycle.CheckResult {
		admitted := webhook.Text(t.Context(), labelling("a", value).Units[0])
		catalog, policies := source.NewCatalog([]*source.Contents{labelling("a", value)}, nil), lifecycle.NewRegistry()
		controller.All(t.Context(), catalog, policies, func(string, *source.Unit) bool { return false })
		controller.typesOf(t.Context(), catalog.Contents[0].Units)
		v := policies.Get("a").Newest
		if v.Plan == admitted.Plan || v.Plan.Graph != admitted.Plan.Graph {
			t.Error("the plan is not a copy of what was compiled")
		}
		return v
	}
	first := edit("x")
	if p, _, err := compiler.Compile(t.Context(), first.Unit, first.Schemas); err != nil || p.Graph != first.Plan.Graph || asked != 1 {
		t.Errorf("%d compilations, %v", asked, err)
	}
	if edit("y"); asked != 2 {
		t.Errorf("%d compilations of two texts", asked)
	}
}
