package properties

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/worlds"
)

// outcomeWorlds is how many generated worlds TestOutcomes runs.
const outcomeWorlds = 60

// TestOutcomes compares what the shipped policies make of worlds and their changes with
// testdata/outcomes.txt, which has for each world a digest of the objects at the end, one of
// the writes, and how many writes there were. A change of the engine that is to change no
// decision leaves the file as it is. UPDATE_GOLDEN=1 writes it.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	bundle, err := source.Load([]string{filepath.Join("..", "..", "policies")}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for seed := range outcomeWorlds {
		g := worlds.New(uint64(seed) + 1000)
		options := simulate.Options{Policies: bundle.Policies, Schemas: bundle.Schemas, Guard: guard.New(bundle.Allowances), Objects: g.World(), Start: worlds.Start}
		var timeline []simulate.Entry
		for i := range 12 {
			e := simulate.Entry{At: simulate.Duration{Duration: time.Duration(i*7+1) * time.Minute}}
			switch g.IntN(4) {
			case 0:
				id := simulate.ID(g.Any())
				e.Delete = &simulate.Reference{APIVersion: id.APIVersion(), Kind: id.Kind(), Namespace: id.Namespace(), Name: id.Name()}
			default:
				e.Apply = g.Any()
			}
			timeline = append(timeline, e)
		}
		fmt.Fprintf(&got, "seed %d: %s\n", seed, digestOf(t, options, timeline, 3*time.Hour))
	}
	for seed := range outcomeWorlds / 3 {
		timeline, _ := schedule(rand.New(rand.NewPCG(uint64(seed), 7)), true)
		options := simulate.Options{Policies: bundle.Policies, Schemas: bundle.Schemas, Guard: guard.New(bundle.Allowances), Objects: []simulate.Object{workload("one", nil), workload("two", nil), config("message 0")}, Start: worlds.Start}
		fmt.Fprintf(&got, "restarts %d: %s\n", seed, digestOf(t, options, timeline, 10*time.Minute))
	}
	objects, err := simulate.ReadObjects(filepath.Join("..", "..", "examples", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	options := simulate.Options{Policies: bundle.Policies, Schemas: bundle.Schemas, Guard: guard.New(bundle.Allowances), Objects: objects, Start: worlds.Start}
	text, err := os.ReadFile("../../examples/modules-timeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	timeline, err := simulate.ParseTimeline(text)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&got, "modules: %s\n", digestOf(t, options, timeline, time.Hour))
	golden := filepath.Join("testdata", "outcomes.txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the policies decide otherwise (-want +got):\n%s", diff)
	}
}

// digestOf runs a world, and returns the digests of its objects and writes.
func digestOf(t *testing.T, o simulate.Options, timeline []simulate.Entry, until time.Duration) string {
	t.Helper()
	scripted, err := builtins.Scripted(map[string]any{"extender": map[string]any{"default": int64(5)}})
	if err != nil {
		t.Fatal(err)
	}
	o.Answers = scripted
	sim := simulate.New(t.Context(), o)
	sim.Run(t.Context(), timeline, until)
	result := sim.Result()
	digest := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.6x", sha256.Sum256(text))
	}
	return fmt.Sprintf("objects %s, %d writes %s, %d errors %s", digest(result.Objects), len(result.Effects), digest(result.Effects), len(result.Errors), digest(result.Errors))
}
