package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
)

// paused is an evaluator that cannot be asked now and then.
type paused struct {
	rego.Evaluator
	now   bool
	asked int
}

// Do implements rego.Evaluator.
func (p *paused) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	if r.Query != nil {
		if p.asked++; p.now {
			return nil, fmt.Errorf("%w: a pause", expr.ErrUnavailable)
		}
	}
	return p.Evaluator.Do(ctx, r)
}

// regoBench has the policy of a bench with a module beside it.
func regoBench(t *testing.T, by rego.Evaluator, module, spec string) *bench {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: example.com/v1, kind: Widget}\n" + spec
	for name, text := range map[string]string{path: text, filepath.Join(filepath.Dir(path), "p.rego"): module} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bundle, err := source.Load([]string{path}, source.Options{Rego: by})
	if err == nil {
		err = bundle.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, policy: bundle.Policies[0], store: world.NewStore(), memos: map[eval.Key]*eval.Memo{}}
	for _, need := range readmodel.Requirements(b.policy) {
		b.store.Open(need.Source, need.Mask, need.Indexes)
	}
	return b
}

// TestAPassingErrorIsNotKept: a variable that failed because Rego could not be asked is
// computed again by the next evaluation, although all that it reads is the same, and so is
// what uses it.
func TestAPassingErrorIsNotKept(t *testing.T) {
	t.Parallel()
	by := &paused{Evaluator: rego.Local()}
	b := regoBench(t, by, "package p\n\nimport rego.v1\n\ndefault even := false\n\neven if input.num % 2 == 0\n", `
  variables:
    - {name: even, rego: {query: data.p.even, input: {num: "${object.spec.num}"}}}
    - {name: text, expression: 'variables.even ? "even" : "odd"'}
  rules: [{name: r, do: [{status: {is: "${variables.text}"}}]}]
`)
	b.put("{kind: Widget, metadata: {name: w}, spec: {num: 2}}")
	memo := &eval.Memo{}
	for i := range 4 {
		by.now = i < 2
		in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}
		before := by.asked
		got := told(eval.Evaluate(t.Context(), in, memo))
		if asked := by.asked - before; asked != min(1, 3-i) {
			t.Errorf("evaluation %d asks %d times", i, asked)
		}
		if diff := cmp.Diff(told(eval.Plain(t.Context(), in)), got); diff != "" {
			t.Errorf("evaluation %d (-plainly +with a memory):\n%s", i, diff)
		}
	}
}

// TestNothingIsLeftOutByAPassingError: an input whose condition, key or order cannot be
// computed now fails, rather than lose its objects; so does one that has objects already, and
// one that an index answers. Whether an object is a member cannot be told meanwhile.
func TestNothingIsLeftOutByAPassingError(t *testing.T) {
	t.Parallel()
	const module = "package p\n\nimport rego.v1\n\ndefault even := false\n\neven if input.num % 2 == 0\n\nzone := \"z0\" if even\n"
	for name, input := range map[string]string{
		"a condition":     "where: 'variables.even && item.spec.size > 1'",
		"a join":          "where: 'variables.zone == item.spec.zone'",
		"a join and more": "where: 'variables.zone == item.spec.zone && item.spec.size > 1'",
		"a key":           "keyBy: 'variables.zone + item.metadata.name'",
		"an order":        "orderBy: ['variables.zone == item.spec.zone', item.metadata.name]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := &paused{Evaluator: rego.Local()}
			b := regoBench(t, by, module, `
  inputs: [{name: near, apiVersion: example.com/v1, kind: Gadget, `+input+`}]
  variables:
    - {name: even, rego: {query: data.p.even, input: {num: "${object.spec.num}"}}}
    - {name: zone, rego: {query: data.p.zone, input: {num: "${object.spec.num}"}}}
  rules: [{name: r, do: [{status: {near: "${size(inputs.near)}"}}]}]
`)
			b.put("{kind: Widget, metadata: {name: w}, spec: {num: 2}}")
			decide := func(pause bool, memo *eval.Memo) *eval.Decision {
				by.now = pause
				return eval.Evaluate(t.Context(), eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}, memo)
			}
			memo := &eval.Memo{}
			for i := range 40 {
				b.put(gadget(i, i, i%2))
				if i%13 != 0 {
					continue
				}
				kept, anew := decide(true, memo), decide(true, &eval.Memo{})
				want := told(decide(false, &eval.Memo{}))
				if len(anew.Effects) > 0 || len(anew.Problems) != 1 || !anew.Problems[0].Transient() {
					t.Fatalf("while it cannot be asked: %v", told(anew))
				}
				if diff := cmp.Diff(want, told(kept)); diff != "" && len(kept.Effects) > 0 { // it may know what was answered before
					t.Fatalf("while it cannot be asked, with a memory, -want +got:\n%s", diff)
				}
				if diff := cmp.Diff(want, told(decide(false, memo))); diff != "" {
					t.Fatalf("afterwards, -want +got:\n%s", diff)
				}
				b.put(fmt.Sprintf("{kind: Widget, metadata: {name: w}, spec: {num: %d}}", 2*i+4)) // asked anew
			}
			by.now = true
			side := eval.NewSide(t.Context(), b.policy, widget, b.store.Snapshot().Table(b.policy.Primary.Source).Get("", "w"))
			defer side.Close()
			o := b.store.Snapshot().Table(b.policy.Inputs[0].Source).Get("", "g2")
			if _, is := side.Member(b.policy.Inputs[0], o); is != eval.AtTimes {
				t.Errorf("an object is a member: %v", is)
			}
		})
	}
}
