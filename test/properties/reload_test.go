package properties

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

// edits are changes that an operator makes, by policy file.
var edits = []struct{ file, old, now string }{
	{"forms", "no thin pool in ${", "no thin pool on ${"},
	{"replica-scheduling", "{default: 1000, minimum: 0", "{default: 1, minimum: 0"},
	{"replica-scheduling", "{default: -800,", "{default: -3,"},
	{"replica-scheduling", "default: false\n      description: when the zone", "default: true\n      description: when the zone"},
	{"replica-scheduling", "message: Replica scheduled successfully", "message: It stands"},
	{"replica-scheduling", "ReplicatedVolume not found; waiting", "No ReplicatedVolume; waiting"},
	{"replica-scheduling", `variables.required - size(`, `1 + variables.required - size(`},
	{"replica-scheduling", "names.number(item.metadata.name) == \"\"\n", "names.number(item.metadata.name) != \"\"\n"},
	{"storage-pool-eligibility", "default: 10m", "default: 1s"},
	{"storage-pool-eligibility", "default: app=agent", "default: app in (agent, other)"},
	{"storage-pool-eligibility", "not found\n", "is missing\n"},
	{"storage-pool-eligibility", "groupBy: item.spec.nodeName", "groupBy: item.spec.nodeName + ''"},
	{"agent-node-label", "size(inputs.resources) > 0", "size(inputs.resources) > 1"},
	{"agent-node-label", `set: {"${params.label}": ""}`, `set: {"${params.label}": "x"}`},
	{"agent-node-label", "# The pools that list this node.", "# What lists this node."},
}

// edited loads one policy file, with an edit.
func edited(t *testing.T, file, old, now string) *source.Bundle {
	t.Helper()
	folder := filepath.Join("..", "..", "policies")
	if file == "forms" {
		folder = "testdata"
	}
	text, err := os.ReadFile(filepath.Join(folder, file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s no longer holds %q", file, old)
	}
	path := filepath.Join(t.TempDir(), file+".yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, now)), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{Schemas: []string{filepath.Join(folder, "schemas")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

// reload is a policy while another text takes over.
type reload struct {
	*bench
	old, now *reconcile.Controller
	// decided are the decisions of the keys, as bytes.
	decided map[eval.Key]string
	spared  int
}

// decide lets a controller reconcile keys.
func (r *reload) decide(c *reconcile.Controller, keys []eval.Key) {
	for _, key := range keys {
		c.Reconcile(r.t.Context(), key, worlds.Start)
		r.decided[key] = r.plainly(c.Policy, key)
	}
}

func (r *reload) plainly(p *plan.Policy, key eval.Key) string {
	return written(eval.Plain(r.t.Context(), eval.Input{Policy: p, Key: key, World: r.store.Snapshot(), Now: worlds.Start, Answers: hashed{}}))
}

// swap lets another text take over, and reconciles whom that concerns.
func (r *reload) swap(next *plan.Policy) {
	r.now = r.group.Add(next)
	for _, o := range r.objects { // it may read more of them
		r.put(o, false)
	}
	keys := r.group.Replay(r.t.Context(), r.now)
	again := r.now.Adopt(r.old, keys)
	r.group.Remove(r.old)
	r.spared += len(keys) - len(again)
	r.decide(r.now, again)
}

// check holds what was decided against deciding anew.
func (r *reload) check(what string) {
	r.t.Helper()
	for key, before := range r.decided {
		if now := r.plainly(r.now.Policy, key); now != before {
			r.t.Fatalf("%s: %s was passed over, but is decided otherwise now (-before +now):\n%s", what, key, cmp.Diff(before, now))
		}
	}
}

// TestEditsConcernWhomTheyMust edits policies in generated worlds: whoever is
// not decided about anew would have been decided the same, and what happens
// afterwards wakes whom it must.
func TestEditsConcernWhomTheyMust(t *testing.T) {
	spared, count, events := map[string]int{}, budget.Of(2, 8), budget.Of(3, 10)
	for n, edit := range edits {
		t.Run(fmt.Sprintf("%d %s", n, edit.file), func(t *testing.T) {
			before, after := edited(t, edit.file, edit.old, edit.old), edited(t, edit.file, edit.old, edit.now)
			for seed := range count {
				g := worlds.New(uint64(5000 + seed))
				b := newBench(t, before)
				for _, o := range g.World() {
					b.put(o, false)
				}
				r := &reload{bench: b, old: b.group.Controllers()[0], decided: map[eval.Key]string{}}
				r.decide(r.old, r.group.Replay(t.Context(), r.old))
				r.swap(after.Policies[0])
				r.check("after the edit")
				for i := range events {
					what, woken := b.happen(g)
					r.decide(r.now, keysOf(slices.Sorted(maps.Keys(woken))))
					r.forget()
					r.check(fmt.Sprintf("world %d, event %d after the edit, %s", seed, i, what))
				}
				spared[edit.now] += r.spared
			}
		})
	}
	t.Log(spared)
	for _, edit := range edits[:4] {
		if spared[edit.now] == 0 {
			t.Errorf("%s: everybody was decided about anew", edit.now)
		}
	}
}

// keysOf takes the keys out of what a put has woken.
func keysOf(woken []string) (out []eval.Key) {
	for _, name := range woken {
		_, key, _ := strings.Cut(name, " ")
		namespace, name, namespaced := strings.Cut(key, "/")
		if !namespaced {
			namespace, name = "", key
		}
		out = append(out, eval.Key{Namespace: namespace, Name: name})
	}
	return out
}

// forget drops the keys of primaries that are gone.
func (r *reload) forget() {
	there := map[eval.Key]bool{}
	for _, key := range r.now.Keys() {
		there[key] = true
	}
	for key := range r.decided {
		if !there[key] {
			delete(r.decided, key)
		}
	}
}
