package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// worldCount is how many worlds are run, worldPlanes on how many control planes.
var worldCount, worldPlanes = budget.Of(3, 50), budget.Of(1, 3)

// TestSimulateAgreesWithRun runs generated worlds in memory and on real
// control planes: both must end in equal objects.
func TestSimulateAgreesWithRun(t *testing.T) {
	t.Parallel()
	for first := range worldPlanes {
		t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
			t.Parallel()
			simulateAgrees(t, first)
		})
	}
}

// simulateAgrees runs every worldPlanes-th world on one control plane.
func simulateAgrees(t *testing.T, first int) {
	t.Helper()
	c := start(t, true)
	bundle, err := source.Load([]string{policies}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := first; seed < worldCount; seed += worldPlanes {
		g := worlds.New(uint64(seed))
		g.Valid = true
		objects := unique(g.World())
		sim := simulate.New(t.Context(), simulate.Options{Policies: bundle.Policies, Schemas: bundle.Schemas, Objects: objects, Guard: guard.New(bundle.Allowances), Start: time.Now()})
		sim.Run(t.Context(), nil, -1)
		result := sim.Result()
		if len(result.Errors) > 0 {
			t.Fatalf("world %d: %v", seed, result.Errors)
		}
		want := essence(result.Objects)
		c.fill(objects) // before the start: a revision counts the writes that led to it
		edict := c.run(nil)
		eventually(t, fmt.Sprintf("world %d differs (-simulate +run)", seed), func() string { return cmp.Diff(want, essence(c.everything())) })
		edict.stop()
		c.clear()
	}
}

// unique keeps the first object of a name: a Pod of one name may be in two
// namespaces, which is one object too many to compare easily. Volumes are left
// out: where their replicas go depends on how far a pool's list has come.
func unique(objects []worlds.Object) []simulate.Object {
	seen := map[string]bool{}
	var out []simulate.Object
	for _, o := range objects {
		kind, _, name := names(o)
		if !seen[kind+name] && slices.Contains(kinds, kind) {
			seen[kind+name] = true
			out = append(out, o)
		}
	}
	return out
}

// fill creates the objects of a world.
func (c *cluster) fill(objects []simulate.Object) {
	c.t.Helper()
	for _, o := range objects {
		copied := maps.Clone(o)
		if o["kind"] == "Node" { // the server sets a creation time of its own
			md := maps.Clone(o["metadata"].(object))
			delete(md, "creationTimestamp")
			copied["metadata"] = md
		}
		c.put(copied)
	}
}

var kinds = []string{"Node", "Pod", "LVMVolumeGroup", "DRBDResource", "ReplicatedStoragePool"}

func (c *cluster) everything() (out []simulate.Object) {
	c.t.Helper()
	for _, kind := range kinds {
		list, err := c.of(kind, "").List(c.t.Context(), metav1.ListOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		for _, u := range list.Items {
			out = append(out, u.Object)
		}
	}
	return out
}

// clear deletes everything, pools first, and waits until it is gone.
func (c *cluster) clear() {
	c.t.Helper()
	for _, kind := range slices.Backward(kinds) {
		for _, o := range c.everything() {
			if k, namespace, name := names(o); k == kind {
				c.delete(k, namespace, name)
			}
		}
	}
	eventually(c.t, "clearing", func() string {
		if n := len(c.everything()); n > 0 {
			return fmt.Sprintf("%d objects are left", n)
		}
		return ""
	})
}

// essence reduces objects to what the policies decide: the agent label of
// nodes and the status of pools, without instants of writes.
func essence(objects []simulate.Object) map[string]any {
	out := map[string]any{}
	for _, o := range objects {
		kind, _, name := names(o)
		switch kind {
		case "Node":
			md, _ := o["metadata"].(object)
			all, _ := md["labels"].(object)
			out["Node/"+name] = all[agentLabel]
		case "ReplicatedStoragePool":
			out["Pool/"+name] = poolEssence(o)
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		panic(err)
	}
	return plain
}

func poolEssence(o simulate.Object) object {
	status, _ := o["status"].(object)
	out := object{}
	for _, field := range []string{"eligibleNodes", "eligibleNodesRevision", "phase", "reason"} {
		if status[field] != nil {
			out[field] = status[field]
		}
	}
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		m, _ := item.(object)
		out[fmt.Sprint("condition ", m["type"])] = fmt.Sprint(m["status"], m["reason"], m["message"])
	}
	return out
}
