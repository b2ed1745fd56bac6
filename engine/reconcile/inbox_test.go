package reconcile

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/world"
)

// TestPoliciesAreToldIndependently: what one policy has still to map to keys
// delays no other, and each sees all changes in their order.
func TestPoliciesAreToldIndependently(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, "  rules: [{name: r, do: [{labels: {set: {a: \"${object.metadata.?labels[?'x'].orValue('none')}\"}}}]}]\n")
	other := *p
	other.Name = "q"
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	var drains []func(context.Context)
	woken := map[string][]string{}
	g.Delivery = &Delivery{
		Start: func(f func(context.Context)) { drains = append(drains, f) },
		Woken: func(wakes []Wake) {
			for _, w := range wakes {
				woken[w.Controller.Policy.Name] = append(woken[w.Controller.Policy.Name], w.Key.Name)
			}
		},
	}
	g.Add(p)
	g.Add(&other)
	for _, name := range []string{"a", "b", "a"} {
		put(t, g, name, "1", map[string]any{"x": name + name[:len(woken)]})
	}
	if len(drains) != 2 || len(woken) != 0 {
		t.Fatalf("%d were started, woken %v", len(drains), woken)
	}
	drains[1](t.Context())
	if diff := cmp.Diff(map[string][]string{"q": {"a", "b"}}, woken); diff != "" {
		t.Errorf("while the other has not begun (-want +got):\n%s", diff)
	}
	put(t, g, "c", "1", nil)
	if len(drains) != 3 {
		t.Fatalf("%d were started, want another one for what came after", len(drains))
	}
	for _, drain := range drains {
		drain(t.Context())
	}
	if diff := cmp.Diff(map[string][]string{"p": {"a", "b", "c"}, "q": {"a", "b", "c"}}, woken); diff != "" {
		t.Errorf("in the end (-want +got):\n%s", diff)
	}
}

// meddling answers, and does something before.
type meddling struct{ do func() }

func (m meddling) Answer(_ context.Context, r *expr.Request) (*expr.Response, error) {
	m.do()
	verdicts := make([]expr.Verdict, r.Candidates.Len())
	for i := range verdicts {
		verdicts[i] = expr.Kept(1)
	}
	return &expr.Response{Verdicts: verdicts}, nil
}

// TestReadWhileItChanges: what changes between the reading and the router
// knowing of it would wake nobody; the key is evaluated again.
func TestReadWhileItChanges(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, `  inputs: [{name: spaces, apiVersion: v1, kind: Namespace, keyBy: item.metadata.name}]
  rules:
    - name: r
      do:
        - log: {message: "${string('x' in inputs.spaces)}"}
        - select:
            candidates: [{as: c, in: "['a']"}]
            pipeline: [{call: extender.filterAndScore, with: {reservationID: r, ttl: "${duration('1s')}", size: 1}, candidate: {name: "${c}"}}]
            then: [{log: {message: chosen}}]
`)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(p)
	put(t, g, "n", "1", nil)
	changed := false
	g.Answers = meddling{func() {
		if changed {
			return
		}
		changed = true
		for _, s := range g.AllSources() {
			if s.Kind == "Namespace" {
				if wakes := g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "x", "uid": "x", "resourceVersion": "1"}}); len(wakes) > 0 {
					t.Errorf("%v is woken: the router knows already", wakes)
				}
			}
		}
	}}
	if r := c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon); !r.Next.Equal(noon) {
		t.Errorf("it is evaluated again at %v, want at once", r.Next)
	}
	if r := c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon); !r.Next.IsZero() || r.Decision.Log[0].Message != "true" {
		t.Errorf("then at %v, %v", r.Next, r.Decision.Log)
	}
}

// TestTheInboxIsBounded: who feeds more than is worked off waits.
func TestTheInboxIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newInbox()
		for range maxWaiting {
			b.add(change{})
		}
		added := false
		go func() {
			b.add(change{})
			added = true
		}()
		synctest.Wait()
		if added {
			t.Error("there is no bound")
		}
		if n := len(b.take()); n != maxWaiting {
			t.Errorf("%d were taken", n)
		}
		synctest.Wait()
		if !added || len(b.take()) != 1 {
			t.Error("what waited did not go on")
		}
		for range maxWaiting {
			b.add(change{})
		}
		ended := false
		go func() {
			b.add(change{})
			ended = true
		}()
		b.close()
		synctest.Wait()
		if !ended {
			t.Error("what waits does not end with the policy")
		}
	})
}
