package properties

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
)

// foreign is the text that only an attacker writes.
const foreign = "attacker.example/x"

// pinned are the shipped policies whose allowances are pinned.
var pinned = []string{"kmm-node-entries", "kmm-module-finalizer", "kmm-node-modules"}

// TestNoEditIsObeyed edits the texts of shipped policies within their permissions: no pinned
// policy writes a value of the edit as image, command, account, volume or place of a Pod.
// Without the closed fields it does.
func TestNoEditIsObeyed(t *testing.T) {
	t.Parallel()
	shipped := shippedPolicies(t)
	g := pinnedGuard(shipped)
	if got := obeyedEdits(t, shipped, g); len(got) > 0 {
		t.Errorf("%d edits are obeyed, such as:\n%s", len(got), got[0])
	}
	g.Closed, g.Assume = nil, true
	if got := obeyedEdits(t, shipped, g); len(got) == 0 {
		t.Error("no edit is obeyed although no field is closed: the edits show nothing")
	}
}

// TestNoEditNotesAConfig: only the pinned policy may note the config of a worker.
func TestNoEditNotesAConfig(t *testing.T) {
	t.Parallel()
	edited := compiledEdit(t, "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: kmm-version-labels}\nspec:\n"+
		"  for: {apiVersion: kmm.sigs.x-k8s.io/v1beta1, kind: NodeModulesConfig}\n  rules:\n"+
		"    - name: note\n      do: [{annotations: {set: {\"worker-config.kmm.node.kubernetes.io/${key.name}\": x}}}]\n")
	g := pinnedGuard(shippedPolicies(t))
	if lacks := g.Lacks(edited); len(lacks) != 1 || lacks[0].Field != "metadata.annotations" {
		t.Errorf("another policy may write the annotation: %v", lacks)
	}
}

func shippedPolicies(t *testing.T) *source.Bundle {
	t.Helper()
	b, err := source.Load([]string{"../../policies"}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(cmp.Or(err, b.Err()))
	}
	return b
}

// pinnedGuard returns a guard as of sets of which some are pinned.
func pinnedGuard(b *source.Bundle) guard.Guard {
	var g guard.Guard
	for _, a := range b.Allowances {
		g.Add("", slices.Contains(pinned, a.Policy.Value), []v1alpha1.Allowance{a})
	}
	return g
}

// obeyedEdits returns the edits of shipped policies because of which a pinned policy
// writes what the attacker chose.
func obeyedEdits(t *testing.T, shipped *source.Bundle, g guard.Guard) (out []string) {
	t.Helper()
	objects, err := simulate.ReadObjects("../../examples/modules")
	if err != nil {
		t.Fatal(err)
	}
	before := obeyedRun(t, shipped.Policies, shipped.Schemas, objects, g).Objects()
	for i, p := range shipped.Policies {
		for seed := range uint64(budget.Of(6, 100)) {
			for _, text := range patchesOf(p, before, rand.New(rand.NewPCG(seed, uint64(i)))) {
				edited := compiledEdit(t, text)
				if edited == nil { // a text in a field of another type
					continue
				}
				after := obeyedRun(t, []*plan.Policy{edited}, shipped.Schemas, before, g).Objects()
				others := slices.Concat(shipped.Policies[:i], shipped.Policies[i+1:])
				if obeys(t, others, shipped.Schemas, after, g) {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// obeys reports whether policies make a Pod with an attacker's text: instead of the Pods that
// there are, or once these have succeeded.
func obeys(t *testing.T, policies []*plan.Policy, schemas *schema.Set, objects []simulate.Object, g guard.Guard) bool {
	t.Helper()
	var without, succeeded []simulate.Object
	for _, o := range objects {
		if o["kind"] != "Pod" {
			without = append(without, o)
		} else {
			o = maps.Clone(o)
			o["status"] = object{"phase": "Succeeded", "containerStatuses": []any{object{
				"name": "worker", "image": "i", "imageID": "i", "ready": false, "restartCount": int64(0),
				"state": object{"terminated": object{"exitCode": int64(0), "finishedAt": "2026-03-01T12:00:00Z"}},
			}}}
		}
		succeeded = append(succeeded, o)
	}
	return slices.ContainsFunc([][]simulate.Object{without, succeeded}, func(world []simulate.Object) bool {
		return slices.ContainsFunc(obeyedRun(t, policies, schemas, world, g).Result().Effects, chosen)
	})
}

func obeyedRun(t *testing.T, policies []*plan.Policy, schemas *schema.Set, objects []simulate.Object, g guard.Guard) *simulate.Simulation {
	t.Helper()
	sim := simulate.New(t.Context(), simulate.Options{Policies: policies, Schemas: schemas, Objects: objects, Guard: g, Start: time.Unix(0, 0)})
	sim.Run(t.Context(), nil, -1)
	return sim
}

// chosen reports whether an effect makes a Pod with the attacker's text.
func chosen(e simulate.Effect) bool {
	text, err := json.Marshal(e.Patch)
	return err == nil && e.Target.Kind == "Pod" && (bytes.Contains(text, []byte(foreign)) || strings.Contains(e.Target.Namespace, foreign))
}

// compiledEdit compiles a text of an attacker: no allowance of a pinned set is for it. It is
// nil if the text is wrong.
func compiledEdit(t *testing.T, text string) *plan.Policy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "edit.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{Schemas: []string{"../../policies/schemas"}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Err() != nil {
		return nil
	}
	if slices.Contains(pinned, b.Policies[0].Name) { // the text of a pinned set cannot be edited
		b.Policies[0].Set = "attacker"
	}
	return b.Policies[0]
}

// patchesOf returns policies of the name that patch, of each kind that the policy writes, some
// texts of an object, in its spec, status, labels or annotations.
func patchesOf(p *plan.Policy, objects []simulate.Object, r *rand.Rand) (out []string) {
	kinds := map[schema.GVK]bool{}
	for _, w := range p.Writes {
		kinds[w.GVK] = true
	}
	for _, o := range objects {
		gvk := schema.GVK{APIVersion: fmt.Sprint(o["apiVersion"]), Kind: fmt.Sprint(o["kind"])}
		if !kinds[gvk] {
			continue
		}
		delete(kinds, gvk)
		metadata, _ := o["metadata"].(map[string]any)
		value := withForeign(object{"spec": o["spec"], "metadata": object{"labels": metadata["labels"], "annotations": metadata["annotations"]}}, r)
		status := withForeign(object{"status": o["status"]}, r)
		out = append(out, fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: %s}\nspec:\n  for: {apiVersion: %s, kind: %s}\n  rules:\n"+
			"    - name: fields\n      do: [{patch: {value: %s}}]\n      continueOnError: true\n    - name: status\n      finally: true\n      do: [{patch: {subresource: status, value: %s}}]\n",
			p.Name, gvk.APIVersion, gvk.Kind, encoded(value), encoded(status)))
	}
	return out
}

func encoded(v any) []byte {
	text, _ := json.Marshal(v) // which are values of JSON
	return text
}

// withForeign returns a value, without null, in which some texts are the attacker's and some fields
// are left out: one that is protected by itself makes the whole patch refused.
func withForeign(v any, r *rand.Rand) any {
	switch v := v.(type) {
	case map[string]any:
		out := object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			protected := name == "serviceAccountName" && r.IntN(2) == 0
			if v[name] != nil && !protected && r.IntN(8) > 0 {
				out[name] = withForeign(v[name], r)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withForeign(item, r)
		}
		return out
	case string:
		if r.IntN(3) == 0 {
			return foreign
		}
	}
	return v
}
