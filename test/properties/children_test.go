package properties

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/fixture"
)

const copies = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: copies}
spec:
  for: {apiVersion: v1, kind: ConfigMap, selector: copy=yes}
  inputs:
    - {name: namespaces, apiVersion: v1, kind: Namespace, selector: target=yes}
  children:
    - name: copies
      after: [note]
      forEach: inputs.namespaces
      as: target
      apply:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: "copy-of-${key.namespace}-${key.name}", namespace: "${target.metadata.name}"}
        data: "${object.?data}"
    - name: note
      apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: "note-${key.name}"}, data: {of: "${key.name}"}}
  rules: [{name: nothing, when: "false", do: [{log: {message: nothing}}]}]
`

// holding is the same policy with a finalizer.
var holding = strings.Replace(copies, "  children:", "  finalizer: "+finalizer+"\n  children:", 1)

const finalizer = "example.com/children"

// childrenWorld is a simulation, with what there is to copy and where to.
type childrenWorld struct {
	t   *testing.T
	sim *simulate.Simulation
	r   *rand.Rand
	// sources have the data of the objects that match the selector, by namespace/name.
	sources map[string]string
	targets map[string]bool
}

func (w *childrenWorld) source() (namespace, name string) {
	return []string{"one", "two"}[w.r.IntN(2)], fmt.Sprintf("p%d", w.r.IntN(2))
}

// change makes something happen.
func (w *childrenWorld) change() {
	namespace, name := w.source()
	key := namespace + "/" + name
	manifest := fixture.Object("v1", "ConfigMap", namespace, name)
	if w.going(manifest) {
		return // what is being deleted stays so, whatever happens to it
	}
	switch w.r.IntN(8) {
	case 0, 1:
		w.sources[key] = fmt.Sprint(w.r.IntN(3))
		manifest["metadata"].(map[string]any)["labels"] = map[string]any{"copy": "yes"}
		manifest["data"] = map[string]any{"x": w.sources[key]}
		w.sim.Apply(manifest)
	case 2: // it leaves the selector
		delete(w.sources, key)
		w.sim.Apply(manifest)
	case 3:
		delete(w.sources, key)
		w.sim.Delete(simulate.ID(manifest))
	case 4, 5:
		target := fmt.Sprintf("t%d", w.r.IntN(3))
		ns := fixture.Object("v1", "Namespace", "", target)
		if w.targets[target] = !w.targets[target]; w.targets[target] {
			ns["metadata"].(map[string]any)["labels"] = map[string]any{"target": "yes"}
		}
		w.sim.Apply(ns)
	case 6: // somebody deletes or edits a child
		of := fixture.Object("v1", "ConfigMap", fmt.Sprintf("t%d", w.r.IntN(3)), "copy-of-"+namespace+"-"+name)
		if now := w.sim.Get(simulate.ID(of)); now != nil && w.r.IntN(2) == 0 {
			w.sim.Delete(simulate.ID(of))
		} else if now != nil {
			w.sim.Merge(simulate.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": of["metadata"], "data": map[string]any{"x": "theirs"}})
		}
	case 7:
		w.sim.Fail(simulate.Fault{Verb: []string{"apply", "delete", "patch"}[w.r.IntN(3)], Kind: "ConfigMap", Times: 1, Code: []int{409, 500}[w.r.IntN(2)]})
	}
}

// going reports whether an object is being deleted.
func (w *childrenWorld) going(o simulate.Object) bool {
	now := w.sim.Get(simulate.ID(o))
	return now != nil && now["metadata"].(map[string]any)["deletionTimestamp"] != nil
}

// held are the objects that have the finalizer.
func (w *childrenWorld) held() (out []string) {
	for _, o := range w.sim.Objects() {
		metadata := o["metadata"].(map[string]any)
		if list, _ := metadata["finalizers"].([]any); slices.Contains(list, any(finalizer)) {
			out = append(out, fmt.Sprint(metadata["namespace"], "/", metadata["name"]))
		}
	}
	slices.Sort(out)
	return out
}

// wanted are the children that there have to be.
func (w *childrenWorld) wanted() (out []string) {
	for key, data := range w.sources {
		namespace, name := key[:3], key[4:]
		out = append(out, fmt.Sprintf("%s/note-%s %s", namespace, name, name))
		for target, is := range w.targets {
			if is {
				out = append(out, fmt.Sprintf("%s/copy-of-%s-%s %s", target, namespace, name, data))
			}
		}
	}
	slices.Sort(out)
	return out
}

// there are the children that there are.
func (w *childrenWorld) there() (out []string) {
	for _, o := range w.sim.Objects() {
		metadata := o["metadata"].(map[string]any)
		labels, _ := metadata["labels"].(map[string]any)
		data, _ := o["data"].(map[string]any)
		if labels["edict.dev/policy"] != nil {
			for _, v := range data {
				out = append(out, fmt.Sprintf("%s/%s %s", metadata["namespace"], metadata["name"], v))
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestChildren: whatever happens, also while the controller does not run and while
// writes fail, there are in the end exactly the children that are wanted, and nothing
// is written any more. With a finalizer, it is on the objects that have children.
func TestChildren(t *testing.T) {
	t.Parallel()
	t.Run("without a finalizer", func(t *testing.T) {
		t.Parallel()
		checkChildren(t, copies, func(*childrenWorld) []string { return nil })
	})
	t.Run("with a finalizer", func(t *testing.T) {
		t.Parallel()
		checkChildren(t, holding, func(w *childrenWorld) []string { return slices.Sorted(maps.Keys(w.sources)) })
	})
}

// childrenPolicy returns a policy with what it needs to be allowed.
func childrenPolicy(t *testing.T, text string) *source.Bundle {
	t.Helper()
	bundle := fixture.Compiled(t, text)
	allowed, err := source.LoadAllowances(nil, []string{"{policy: copies, kind: ConfigMap, fields: [delete, metadata.finalizers]}"})
	if err != nil {
		t.Fatal(err)
	}
	bundle.Allowances = allowed
	return bundle
}

func checkChildren(t *testing.T, policy string, held func(*childrenWorld) []string) {
	t.Helper()
	bundle := childrenPolicy(t, policy)
	for seed := range uint64(budget.Of(15, 60)) {
		w := &childrenWorld{t: t, r: rand.New(rand.NewPCG(seed, 7)), sources: map[string]string{}, targets: map[string]bool{}}
		w.sim = fixture.Simulation(t, bundle, nil, nil)
		for round := range 8 {
			stopped := w.r.IntN(3) == 0
			if stopped {
				w.sim.Stop(t.Context())
			}
			for range 1 + w.r.IntN(5) {
				w.change()
				if w.r.IntN(2) == 0 && !stopped {
					w.sim.Settle(t.Context())
				}
			}
			if stopped || w.r.IntN(4) == 0 {
				w.sim.Restart(t.Context())
			}
			w.sim.Settle(t.Context())
			w.sim.Advance(t.Context(), w.sim.Now().Add(10*time.Minute))
			if diff := cmp.Diff(w.wanted(), w.there()); diff != "" {
				t.Fatalf("seed %d, round %d (-want +got):\n%s", seed, round, diff)
			}
			if diff := cmp.Diff(held(w), w.held()); diff != "" {
				t.Fatalf("seed %d, round %d: held (-want +got):\n%s", seed, round, diff)
			}
			before := len(w.sim.Result().Effects)
			w.sim.Restart(t.Context())
			w.sim.Settle(t.Context())
			if after := w.sim.Result().Effects; len(after) != before {
				t.Fatalf("seed %d, round %d: written at rest: %+v", seed, round, after[before:])
			}
		}
	}
}
