package properties

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

const (
	hashAnnotation = "shipshape.io/config-hash-app-config"
	window         = 5 * time.Second
)

func workload(name string, annotations object) object {
	labels := object{"app": "helloworld", "env": "test"}
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name, "namespace": "shipshape", "labels": labels},
		"spec": object{"template": object{"metadata": object{"annotations": annotations}}},
	}
}

func config(message string) object {
	return object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "app-config", "namespace": "shipshape", "labels": object{"app": "helloworld", "env": "test"}},
		"data": object{"MESSAGE": message},
	}
}

// schedule makes edits, failing writes and, if wanted, processes that are
// killed, stopped and started, over a minute.
func schedule(r *rand.Rand, processes bool) (timeline []simulate.Entry, last string) {
	at := func() simulate.Duration {
		return simulate.Duration{Duration: time.Duration(r.IntN(60_000)) * time.Millisecond}
	}
	for i := range 4 + r.IntN(12) {
		timeline = append(timeline, simulate.Entry{At: at(), Apply: config(fmt.Sprintf("message %d", i%6))})
	}
	for range r.IntN(4) {
		code := []int{409, 500, 503}[r.IntN(3)]
		timeline = append(timeline, simulate.Entry{At: at(), Fail: &simulate.Fault{Verb: "patch", Kind: "Deployment", Times: 1 + r.IntN(4), Code: code}})
	}
	if processes {
		for range 1 + r.IntN(4) {
			switch when := at(); r.IntN(2) {
			case 0:
				timeline = append(timeline, simulate.Entry{At: when, Restart: true})
			default:
				later := simulate.Duration{Duration: when.Duration + time.Duration(r.IntN(8000))*time.Millisecond}
				timeline = append(timeline, simulate.Entry{At: when, Stop: true}, simulate.Entry{At: later, Start: true})
			}
		}
	}
	slices.SortStableFunc(timeline, func(a, b simulate.Entry) int { return int(a.At.Duration - b.At.Duration) })
	for _, e := range timeline {
		if e.Apply != nil {
			last = e.Apply["data"].(object)["MESSAGE"].(string)
		}
	}
	return timeline, last
}

// TestRestartsLoseNothing: whatever happens, every workload that was ever
// restarted ends with the newest data, and a window sees one restart.
func TestRestartsLoseNothing(t *testing.T) {
	b, err := source.Load([]string{filepath.Join("..", "..", "policies", "configmap-restart.yaml")}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(budget.Of(80, 300)) {
		r := rand.New(rand.NewPCG(seed, 3))
		processes := seed%2 == 0
		timeline, last := schedule(r, processes)
		sim := simulate.New(t.Context(), simulate.Options{
			Policies: b.Policies, Schemas: b.Schemas, Start: worlds.Start,
			// The first was restarted before, by whom the hash tells nothing.
			Objects: []simulate.Object{workload("a", object{hashAnnotation: "old"}), workload("b", object{}), config("first")},
		})
		sim.Run(t.Context(), timeline, 5*time.Minute)
		result := sim.Result()
		want := newest(t, b, last)
		for _, o := range result.Objects {
			if o["kind"] != "Deployment" {
				continue
			}
			got := text(o, "spec", "template", "metadata", "annotations", hashAnnotation)
			if got != "" && got != want {
				t.Errorf("schedule %d: %s ends with %s, not %s", seed, text(o, "metadata", "name"), got, want)
			}
		}
		if !processes {
			oncePerWindow(t, seed, result, timeline)
		}
	}
}

// newest returns the digest of a message, as the policy computes it.
func newest(t *testing.T, b *source.Bundle, message string) string {
	t.Helper()
	sim := simulate.New(t.Context(), simulate.Options{
		Policies: b.Policies, Schemas: b.Schemas, Start: worlds.Start, Objects: []simulate.Object{workload("x", object{hashAnnotation: "old"}), config(message)},
	})
	sim.Run(t.Context(), nil, -1)
	for _, o := range sim.Result().Objects {
		if o["kind"] == "Deployment" {
			return text(o, "spec", "template", "metadata", "annotations", hashAnnotation)
		}
	}
	return ""
}

// oncePerWindow: without failures two restarts of a workload are a window
// apart.
func oncePerWindow(t *testing.T, seed uint64, result simulate.Result, timeline []simulate.Entry) {
	t.Helper()
	if slices.ContainsFunc(timeline, func(e simulate.Entry) bool { return e.Fail != nil }) {
		return
	}
	before := map[string]time.Time{}
	for _, e := range result.Effects {
		if was, ok := before[e.Target.Name]; ok && e.At.Sub(was) < window {
			t.Errorf("schedule %d: %s is restarted at %v and at %v", seed, e.Target.Name, was, e.At)
		}
		before[e.Target.Name] = e.At
	}
}
