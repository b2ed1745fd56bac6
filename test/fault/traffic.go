package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// traffic changes the world: nodes that become ready or not, or move to another
// zone, ConfigMaps that are made, changed and deleted. What it does follows from
// the seed.
type traffic struct {
	stage  *stage
	random *rand.Rand
	mu     sync.Mutex
	// done counts the changes that were made since the traffic began.
	done  atomic.Int64
	stop  func()
	began time.Time
	ended sync.WaitGroup
	// wrote is told of each text that is about to be written, if it is set.
	wrote func(text string)
	// objects are held while a ConfigMap is changed, by its number: the audit log has
	// the changes of one in their order then.
	objects [16]sync.Mutex
	// rate is how many changes a second are made, a multiple of perSecond.
	rate int
}

const (
	// perSecond is the rate of changes, writers how many make them, so that one that
	// waits holds nobody up. leastRate is what makes a run valid: the share of the
	// changes that were made while the API server was there.
	perSecond = 25
	writers   = 2
	leastRate = 0.5
)

func newTraffic(s *stage) *traffic {
	return &traffic{stage: s, random: rand.New(rand.NewPCG(s.seed, 2)), rate: perSecond}
}

// begin changes things until end.
func (t *traffic) begin() {
	ctx, cancel := context.WithCancel(t.stage.t.Context())
	t.done.Store(0)
	t.stop, t.began = cancel, time.Now()
	for range writers * t.rate / perSecond {
		t.ended.Go(func() { t.work(ctx) })
	}
}

// work makes one change after another.
func (t *traffic) work(ctx context.Context) {
	ticks := time.NewTicker(writers * time.Second / perSecond)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			t.change(ctx)
		}
	}
}

// end stops the changes. Without enough of them the run is void; outage is how
// long the API server was away.
func (t *traffic) end(outage time.Duration) {
	t.stage.t.Helper()
	t.stop()
	t.ended.Wait()
	lasted := time.Since(t.began)
	least, done := leastRate*float64(t.rate)*(lasted-outage).Seconds(), t.done.Load()
	if float64(done) < least {
		t.stage.t.Fatalf("VOID: %d changes in %v (%v without API server), at least %.0f are needed", done, lasted.Round(time.Second), outage, least)
	}
	t.stage.t.Logf("traffic: %d changes in %v", done, lasted.Round(time.Second))
}

// change makes one change.
func (t *traffic) change(ctx context.Context) {
	t.mu.Lock()
	kind, n, m := t.random.IntN(10), t.random.IntN(nodeCount), t.random.IntN(mapCount)
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var err error
	switch {
	case kind < 2:
		err = t.node(ctx, n)
	case kind < 3:
		err = t.remove(ctx, m)
	default:
		err = t.write(ctx, m)
	}
	if err == nil {
		t.done.Add(1)
	}
}

func (t *traffic) zone() string { return fmt.Sprintf("z%d", t.random.IntN(zoneCount)) }

// node makes a node, or changes its zone and whether it is ready.
func (t *traffic) node(ctx context.Context, n int) error {
	t.mu.Lock()
	zone, ready := t.zone(), map[bool]string{true: "True", false: "False"}[t.random.IntN(3) > 0]
	t.mu.Unlock()
	api, name := t.stage.client.Resource(nodes), fmt.Sprintf("n%03d", n)
	patch := func(body object, subresources ...string) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		_, err = api.Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{}, subresources...)
		return err
	}
	err := patch(object{"metadata": object{"labels": object{"zone": zone}}})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, &unstructured.Unstructured{Object: object{
			"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"zone": zone}},
		}}, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	return patch(object{"status": object{"conditions": []any{object{"type": "Ready", "status": ready}}}}, "status")
}

// write makes a ConfigMap, or changes its data.
func (t *traffic) write(ctx context.Context, m int) error {
	t.objects[m%len(t.objects)].Lock()
	defer t.objects[m%len(t.objects)].Unlock()
	t.mu.Lock()
	written := fmt.Sprint(t.random.Uint32())
	data := object{"zone": t.zone(), "text": written}
	t.mu.Unlock()
	if t.wrote != nil {
		t.wrote(written)
	}
	api, name := t.stage.client.Resource(configMaps).Namespace("source"), fmt.Sprintf("m%04d", m)
	text, err := json.Marshal(object{"data": data})
	if err != nil {
		return err
	}
	_, err = api.Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, &unstructured.Unstructured{Object: object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": "source"}, "data": data,
		}}, metav1.CreateOptions{})
	}
	return err
}

// remove deletes a ConfigMap.
func (t *traffic) remove(ctx context.Context, m int) error {
	t.objects[m%len(t.objects)].Lock()
	defer t.objects[m%len(t.objects)].Unlock()
	err := t.stage.client.Resource(configMaps).Namespace("source").Delete(ctx, fmt.Sprintf("m%04d", m), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
