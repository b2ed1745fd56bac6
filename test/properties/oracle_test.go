package properties

import (
	"github.com/edict-dev/edict/engine/guard"

	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

// policies are the shipped policies, and one that exists to use every form of
// input and join.
func policies(t *testing.T) *source.Bundle {
	t.Helper()
	b, err := source.Load([]string{filepath.Join("..", "..", "policies"), "testdata"}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

// bench is a read model with controllers and no API server.
type bench struct {
	t       *testing.T
	bundle  *source.Bundle
	store   *world.Store
	group   *reconcile.Group
	objects map[string]worlds.Object
	last    map[string]string
	// lazy decides only about keys that were woken, as a controller does: what wakes
	// the others is what they read long ago.
	lazy bool
}

// silent is a fake writer: nothing is written in these tests.
type silent struct{}

func (silent) Patch(context.Context, apply.Patch) (world.Version, error) { return world.Version{}, nil }
func (silent) Event(context.Context, apply.Event) error                  { return nil }
func (silent) Evict(context.Context, apply.Deletion) error               { return nil }
func (silent) Delete(context.Context, apply.Deletion) error              { return nil }

func (silent) Live(context.Context, world.ID) (world.Version, string, error) {
	return world.Version{}, "", nil
}

func (silent) Make(context.Context, apply.Manifest) (world.Version, error) {
	return world.Version{}, nil
}

func newBench(t *testing.T, bundle *source.Bundle) *bench {
	b := &bench{t: t, bundle: bundle, store: world.NewStore(), objects: map[string]worlds.Object{}, last: map[string]string{}}
	b.group = reconcile.NewGroup(b.store, silent{}, bundle.Schemas)
	b.group.SetGuard(guard.Guard{Assume: true})
	b.group.Answers = hashed{}
	for _, p := range bundle.Policies {
		b.group.Add(p)
	}
	return b
}

func text(o worlds.Object, fields ...string) string {
	var v any = o
	for _, f := range fields {
		m, _ := v.(worlds.Object)
		v = m[f]
	}
	s, _ := v.(string)
	return s
}

func id(o worlds.Object) string {
	return text(o, "kind") + "/" + text(o, "metadata", "namespace") + "/" + text(o, "metadata", "name")
}

// put feeds an object, or with gone its deletion, and returns the woken keys.
func (b *bench) put(o worlds.Object, gone bool) map[string]bool {
	woken := map[string]bool{}
	for _, source := range b.group.AllSources() {
		if source.APIVersion != text(o, "apiVersion") || source.Kind != text(o, "kind") {
			continue
		}
		if source.Namespace != "" && source.Namespace != text(o, "metadata", "namespace") {
			continue
		}
		selector, err := labels.Parse(source.Selector)
		if err != nil {
			b.t.Fatal(err)
		}
		var wakes []reconcile.Wake
		if gone || !selector.Matches(apiserver.Labels(o)) {
			wakes = b.group.Delete(b.t.Context(), source, text(o, "metadata", "namespace"), text(o, "metadata", "name"))
		} else {
			wakes = b.group.Put(b.t.Context(), source, o)
		}
		for _, w := range wakes {
			woken[w.Controller.Policy.Name+" "+w.Key.String()] = true
		}
	}
	if gone {
		delete(b.objects, id(o))
	} else {
		b.objects[id(o)] = o
	}
	return woken
}

// written returns a decision as bytes.
func written(d *eval.Decision) string {
	type effect struct {
		Rules  []string
		Target world.ID
		Verb   string
		Sub    string
		Patch  any
	}
	var effects []effect
	for _, e := range d.Effects {
		effects = append(effects, effect{e.Rules, e.Target, e.Verb, e.Subresource, value.Plain(e.Patch)})
	}
	var problems []string
	for _, p := range d.Problems {
		problems = append(problems, fmt.Sprintf("%s %s %v", p.Rule, p.Item, p.Err))
	}
	var calls []any
	for _, c := range d.Calls {
		request, response := record.CallOf(c)
		calls = append(calls, []any{c.Rule, c.Request.Query, request, response, fmt.Sprint(c.Err), c.AnsweredBefore})
	}
	remember := map[string]any{}
	for name, v := range d.Remember {
		remember[name] = value.Plain(v)
	}
	out, err := json.MarshalIndent(map[string]any{"effects": effects, "problems": problems, "next": d.Next, "log": d.Log, "calls": calls, "remember": remember, "reached": d.Reached, "ran": d.Ran, "fired": d.Fired}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(out)
}

// check compares, for every key, the evaluator with a memory with the plain
// one, and the plain one's decision with the last if the key was not woken.
func (b *bench) check(what string, now time.Time, woken map[string]bool) {
	b.t.Helper()
	for _, c := range b.group.Controllers() {
		for _, key := range c.Keys() {
			in := eval.Input{Policy: c.Policy, Key: key, World: b.store.Snapshot(), Now: now, Answers: hashed{}}
			plain := written(eval.Plain(b.t.Context(), in))
			name := c.Policy.Name + " " + key.String()
			if before, known := b.last[name]; b.lazy && known && woken != nil && !woken[name] {
				if before != plain {
					b.t.Fatalf("%s: %s was not woken, but decides otherwise now (-before +now):\n%s", what, name, cmp.Diff(before, plain))
				}
				continue
			}
			fast := written(c.Evaluate(b.t.Context(), key, now))
			if d := cmp.Diff(plain, fast); d != "" {
				b.t.Fatalf("%s: %s: with a memory it decides otherwise (-plain +memory):\n%s", what, name, d)
			}
			fresh := written(eval.Evaluate(b.t.Context(), in, nil))
			if d := cmp.Diff(plain, fresh); d != "" {
				b.t.Fatalf("%s: %s: with indexes and no memory it decides otherwise (-plain +fresh):\n%s", what, name, d)
			}
			if before, known := b.last[name]; known && woken != nil && !woken[name] && before != plain {
				b.t.Fatalf("%s: %s was not woken, but decides otherwise now (-before +now):\n%s", what, name, cmp.Diff(before, plain))
			}
			b.last[name] = plain
		}
	}
}

// TestMemoryAgreesWithPlain lets things happen in generated worlds and holds
// every decision against the naive evaluator.
func TestMemoryAgreesWithPlain(t *testing.T) {
	bundle := policies(t)
	for seed := range budget.Of(2, 60) {
		t.Run(fmt.Sprintf("world %d", seed), func(t *testing.T) {
			t.Parallel()
			g := worlds.New(uint64(seed))
			b := newBench(t, bundle)
			b.lazy = seed%2 == 1
			for _, o := range g.World() {
				b.put(o, false)
			}
			now := worlds.Start
			b.check("the first list", now, nil)
			for i := range budget.Of(16, 40) {
				what, woken := b.happen(g)
				b.check(fmt.Sprintf("event %d, %s", i, what), now, woken)
				if i%8 == 7 {
					now = now.Add(time.Duration(g.IntN(20)) * time.Minute)
					b.check(fmt.Sprintf("after event %d the clock moves to %s", i, now), now, nil)
				}
			}
		})
	}
}

// happen lets one thing happen.
func (b *bench) happen(g *worlds.Generator) (string, map[string]bool) {
	o := g.Any()
	if have, ok := b.objects[id(o)]; ok {
		if g.IntN(5) == 0 {
			return "delete " + id(o), b.put(have, true)
		}
		o = g.Mutate(have)
		if id(o) != id(have) { // a Pod of another namespace takes its place
			woken := b.put(have, true)
			maps.Copy(woken, b.put(o, false))
			return "move " + id(have) + " to " + id(o), woken
		}
	}
	return "put " + id(o), b.put(o, false)
}

// TestOrderDoesNotMatter feeds the same objects in two orders.
func TestOrderDoesNotMatter(t *testing.T) {
	bundle := policies(t)
	for seed := range budget.Of(5, 20) {
		g := worlds.New(uint64(1000 + seed))
		objects := g.World()
		one, two := newBench(t, bundle), newBench(t, bundle)
		for i := range objects {
			one.put(objects[i], false)
			two.put(objects[len(objects)-1-i], false)
		}
		one.check("in order", worlds.Start, nil)
		two.check("backwards", worlds.Start, nil)
		if d := cmp.Diff(one.last, two.last); d != "" {
			t.Fatalf("world %d: the order of the objects changes a decision:\n%s", seed, d)
		}
	}
}

// TestTheWorldsChoose makes sure that the worlds are worth comparing: that in
// them candidates win, none is left, questions fail, steps fail, and each action by
// a subresource is taken.
func TestTheWorldsChoose(t *testing.T) {
	bundle := policies(t)
	seen := map[string]int{}
	for seed := range 40 {
		b := newBench(t, bundle)
		for _, o := range worlds.New(uint64(seed)).World() {
			b.put(o, false)
		}
		for _, c := range b.group.Controllers() {
			for _, key := range c.Keys() {
				b.count(c.Evaluate(t.Context(), key, worlds.Start), seen)
			}
		}
	}
	t.Log(seen)
	for _, what := range []string{"a placement", "nobody left", "a failed question", "a failed confirmation", "a failed step", eval.VerbScale, eval.VerbEvict, eval.VerbApprove} {
		if seen[what] < 5 {
			t.Errorf("%s happens %d times only", what, seen[what])
		}
	}
}

func (b *bench) count(d *eval.Decision, seen map[string]int) {
	for _, e := range d.Effects {
		seen[e.Verb]++
		if value.Path(e.Patch, "spec", "nodeName") != nil {
			seen["a placement"]++
		}
		for _, rule := range e.Rules {
			if rule == "choose" {
				text := written(&eval.Decision{Effects: []*eval.Effect{e}})
				seen["nobody left"] += strings.Count(text, "nobody: ")
				seen["a failed confirmation"] += strings.Count(text, "-confirm")
			}
		}
	}
	for _, p := range d.Problems {
		if errors.Is(p.Err, errLuck) {
			seen["a failed question"]++
		} else {
			seen["a failed step"]++
		}
	}
}
