package properties

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/test/budget"
)

// TestSnapshotsDecideAlike: on the snapshot of a world, policies make the same
// calls and writes as on the world itself, for an hour. The worlds are those of
// all policy tests.
func TestSnapshotsDecideAlike(t *testing.T) {
	t.Parallel()
	var worlds, effects, before, after atomic.Int64
	options := policytest.Options{Begin: func(o simulate.Options) {
		identified(o.Objects)
		reads, err := snapshot.New(o.Policies)
		if err != nil {
			t.Error(err)
			return
		}
		kept := reads.Take(o.Objects)
		worlds.Add(1)
		before.Add(int64(fields(o.Objects)))
		after.Add(int64(fields(kept)))
		want := outcome(t, o)
		o.Objects = kept
		effects.Add(int64(len(want.Effects)))
		if diff := cmp.Diff(want, outcome(t, o)); diff != "" && !t.Failed() {
			t.Errorf("the snapshot decides otherwise (-world +snapshot):\n%s", diff)
		}
	}}
	paths := []string{filepath.Join("..", "..", "policies"), filepath.Join("..", "..", "policy-tests")}
	if !budget.Long() {
		paths = []string{filepath.Join("..", "..", "policy-tests", "secret-restart"), filepath.Join("..", "..", "policy-tests", "storage-pool-eligibility"), filepath.Join("..", "..", "policy-tests", "kmm", "over-time.yaml")}
	}
	if _, err := policytest.Run(t.Context(), paths, options); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d worlds, %d writes, %d of %d fields kept", worlds.Load(), effects.Load(), after.Load(), before.Load())
	if effects.Load() < 100 || after.Load() >= before.Load() {
		t.Errorf("%d writes, %d of %d fields kept: too few to tell", effects.Load(), after.Load(), before.Load())
	}
}

// outcome runs a world for an hour.
func outcome(t *testing.T, o simulate.Options) simulate.Result {
	t.Helper()
	o.Records, o.KeepTraces = nil, false
	sim := simulate.New(t.Context(), o)
	sim.Settle(t.Context())
	sim.Advance(t.Context(), o.Start.Add(time.Hour))
	out := sim.Result()
	out.Objects = nil // they have only what is read
	return out
}

// identified gives every object a uid that does not depend on what other objects
// there are.
func identified(objects []simulate.Object) {
	for _, o := range objects {
		metadata, _ := o["metadata"].(map[string]any)
		if id := simulate.ID(o); metadata["uid"] == nil {
			metadata["uid"] = fmt.Sprintf("%s/%s/%s/%s", id.APIVersion(), id.Kind(), id.Namespace(), id.Name())
		}
	}
}

// fields counts the scalars in a value.
func fields(v any) (n int) {
	switch v := v.(type) {
	case []simulate.Object:
		for _, o := range v {
			n += fields(o)
		}
	case map[string]any:
		for _, field := range v {
			n += fields(field)
		}
	case []any:
		for _, item := range v {
			n += fields(item)
		}
	default:
		n = 1
	}
	return n
}
