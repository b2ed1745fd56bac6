package check

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/race"
)

// tested has a policy and tests beside it.
func tested(name, tests, rego string) *source.Contents {
	c := labelling(name, "x")
	data := map[string]string{"p.yaml": c.Data["p.yaml"], "p_test.rego": "package p_test\n" + rego}
	if tests != "" {
		data["p_test.yaml"] = "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  cases:\n" + tests
	}
	return source.Read(nil, &source.ConfigMap{Namespace: "ns", Name: name, Data: data})
}

// TestTestsInAnotherProcess: tests that take all memory or time are refused with their text,
// as are those that fail; others pass, and this process is none of their limits.
func TestTestsInAnotherProcess(t *testing.T) {
	t.Parallel()
	const one = "    - name: one\n      objects: [{apiVersion: v1, kind: Node, metadata: {name: n}}]\n      expect: {effects: [{verb: patch, target: {kind: Node, name: %s}}]}\n"
	const endless = "test_a if regex.match(\"(a?){500}a{900}b\", concat(\"\", [\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" | some a in [1, 2, 3, 4, 5, 6, 7, 8, 9]; some b in [1, 2, 3, 4, 5, 6, 7, 8, 9]; some c in [1, 2, 3, 4, 5, 6, 7, 8, 9]; some d in [1, 2, 3, 4, 5, 6, 7, 8, 9]]))"
	greedy := "v0 := [1]\n"
	for i := range 30 {
		greedy += fmt.Sprintf("v%d := array.concat(v%d, v%d)\n", i+1, i, i)
	}
	greedy += "test_a if count(v30) == 0"
	j, starts := newTestJudge(t)
	c := New(Options{
		Kinds: discovery.New(meta.NewDefaultRESTMapper(nil), nil, nodes(), time.Second), Judge: j, Guard: func() guard.Guard { return guard.New(nil).Assuming() }, Log: slog.New(slog.DiscardHandler),
	})
	want := map[string]string{
		"a": "", "b": `the test "one" fails`, "c": "the tests cannot be run: it took longer than 1s of processor time", "d": "the tests cannot be run: it needs more than the 192 MiB", "e": "",
		"f": `the test "p_test.test_a" fails`,
	}
	texts := []*source.Contents{
		tested("a", fmt.Sprintf(one, "n"), "test_a if true"), tested("b", fmt.Sprintf(one, "m"), ""), tested("c", "", endless), tested("d", "", greedy), tested("e", "", "test_a if 1 < 2"), tested("f", "", "test_a if 2 < 1"),
	}
	if race.Enabled {
		delete(want, "d")
		texts = append(texts[:3], texts[4:]...)
	}
	policies, catalog, runner := lifecycle.NewRegistry(), source.NewCatalog(texts, nil), NewTestRunner(c)
	c.All(t.Context(), catalog, policies, func(string, *source.Unit) bool { return false })
	for range want {
		runner.Next(t.Context(), catalog, policies, func(f func()) { go f() })
		runner.Complete(<-runner.Ended(), policies)
	}
	for id, want := range want {
		v, found := policies.Get(id).Newest, ""
		for _, p := range v.Problems {
			found += p.Message
		}
		if v.Good() != (want == "") || v.TestsFailed == (want == "") || !v.Compiled || !strings.HasPrefix(found, want) {
			t.Errorf("%s: %+v", id, v)
		}
	}
	if got := starts.Load(); got > 3 {
		t.Errorf("%d processes, at most one for each end", got)
	}
}

// TestTestsWithoutProcess: if the tests cannot be run for another reason than a limit, the text
// is checked again.
func TestTestsWithoutProcess(t *testing.T) {
	t.Parallel()
	j, _ := newTestJudge(t)
	c := New(Options{
		Kinds: discovery.New(meta.NewDefaultRESTMapper(nil), nil, nodes(), time.Second), Judge: j, Guard: func() guard.Guard { return guard.New(nil).Assuming() }, Log: slog.New(slog.DiscardHandler),
	})
	policies, catalog, runner := lifecycle.NewRegistry(), source.NewCatalog([]*source.Contents{tested("a", "", "test_a if true")}, nil), NewTestRunner(c)
	c.All(t.Context(), catalog, policies, func(string, *source.Unit) bool { return false })
	j.tests = stopped{}
	runner.Next(t.Context(), catalog, policies, func(f func()) { go f() })
	runner.Complete(<-runner.Ended(), policies)
	if v := policies.Get("a").Newest; v.Good() || v.Compiled {
		t.Errorf("%+v", v)
	}
}
