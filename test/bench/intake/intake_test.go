package intake

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/test/bench/measure"
	"github.com/edict-dev/edict/test/bench/objects"
)

var small = sizes{nodes: 30, perPool: 10}

// TestEverythingIsSettled: no node is to be labelled and no replica to be placed, so
// that what is measured is a start with everything in place.
func TestEverythingIsSettled(t *testing.T) {
	t.Chdir("../../..")
	b, err := load()
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t.Context(), b)
	for _, k := range append([]kind{small.pools()}, small.kinds()...) {
		for i := range k.n {
			if err := e.event(k.name, objects.Text(k.make(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]int{"agent-node-label": 30, "replica-scheduling": 30, "storage-pool-eligibility": 3}
	for _, c := range e.group.Controllers() {
		if n := len(c.Keys()); n != want[c.Policy.Name] {
			t.Errorf("%s has %d keys, want %d", c.Policy.Name, n, want[c.Policy.Name])
		}
		if c.Policy.Name != "storage-pool-eligibility" { // its pools have a list that is not calculated
			settled(t, c)
		}
	}
}

func settled(t *testing.T, c *reconcile.Controller) {
	t.Helper()
	for _, key := range c.Keys() {
		if r := c.Reconcile(t.Context(), key, objects.Now); len(r.Decision.Effects) > 0 {
			t.Fatalf("%s: %s has effects: %v", c.Policy.Name, key, r.Decision.Effects)
		}
	}
}

// TestPlaces: the replicas of a volume are on nodes of its pool.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for volume := range full.nodes {
		pool := volume % full.pools().n
		first, last := full.place(volume), full.place(volume)+objects.Replicas-1
		if first < pool*full.perPool || last >= (pool+1)*full.perPool {
			t.Fatalf("volume %d is on the nodes %d to %d, outside pool %d", volume, first, last, pool)
		}
	}
}

// TestFigures: there are figures of each step, for 10,000 objects, and they are in the
// table and in the file.
func TestFigures(t *testing.T) {
	t.Chdir("../../..")
	found, err := measured(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range found.Kinds {
		for name, c := range map[string]measure.Cost{"decode": k.Decode, "store": k.Store, "map": k.Map, "typed": k.Typed.Decode, "unstructured": k.Loose.Decode} {
			if c.Allocs < per || c.Bytes < 100*per || c.CPU <= 0 && name != "map" { // a difference, which may be nothing
				t.Errorf("%s, %s: %+v, want at least an allocation for each object", k.Title, name, c)
			}
		}
	}
	if nodes := found.Kinds[0]; nodes.JSON < 5000*per || nodes.JSON > 7000*per || nodes.Decode.Allocs > nodes.Typed.Decode.Allocs/4 {
		t.Errorf("%+v: want 5 to 7 KB for each node, and a quarter of the allocations of the whole", nodes)
	}
	if found.Whole.Objects != 3+30+60+30+30+90 {
		t.Errorf("%d objects", found.Whole.Objects)
	}
	output(t, found)
}

func output(t *testing.T, found *report) {
	t.Helper()
	for _, markdown := range []bool{false, true} {
		var out bytes.Buffer
		printer{&out, markdown}.report(found)
		for _, want := range []string{"Pods of the agent", "replica-scheduling", "unstructured", "MB", " %"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, &out)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "figures.json")
	if err := found.write(path); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &got) != nil || got["whole"] == nil {
		t.Errorf("%v: %s", err, text)
	}
}

// TestShares: the shares of a row are of the row's sum.
func TestShares(t *testing.T) {
	t.Parallel()
	row := kindRow{Decode: measure.Cost{CPU: 1e6, Live: 3e6}, Store: measure.Cost{CPU: 2e6, Live: 1e6}, Map: measure.Cost{CPU: 1e6, Live: -1}}
	if got := row.cpu()[2:5]; got[0] != "1 ms (25 %), 0 K" || got[1] != "2 ms (50 %), 0 K" {
		t.Errorf("%q", got)
	}
	if got := row.live(); got[1] != "3.0 MB (75 %)" || got[3] != "0.0 MB (0 %)" {
		t.Errorf("%q", got)
	}
}
