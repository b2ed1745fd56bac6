package fault

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// numberOf reads a number from the environment.
func numberOf(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// delays measures how long it takes until a text of a source is in its copy.
type delays struct {
	mu    sync.Mutex
	since map[string]time.Time
	took  []time.Duration
}

func (d *delays) wrote(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since[text] = time.Now()
}

func (d *delays) copied(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if since, ok := d.since[text]; ok {
		d.took = append(d.took, time.Since(since))
		delete(d.since, text)
	}
}

// watch takes what becomes of the copies, until the context ends.
func (d *delays) watch(ctx context.Context, s *stage) {
	for ctx.Err() == nil {
		events, err := s.client.Resource(configMaps).Namespace("target").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for e := range events.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok {
				text, _, _ := unstructured.NestedString(o.Object, "data", "text")
				d.copied(text)
			}
		}
	}
}

// share returns the delay that a share of all changes stayed below.
func (d *delays) share(of float64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.took)
	if len(d.took) == 0 {
		return 0
	}
	return d.took[int(of*float64(len(d.took)-1))].Round(time.Millisecond)
}

// TestSteadyLoad (F1): EDICT_LOAD_RATE changes a second (100) for
// EDICT_LOAD_MINUTES, and 50 policies.
func TestSteadyLoad(t *testing.T) {
	minutes := numberOf(t, "EDICT_LOAD_MINUTES", 0)
	if minutes == 0 {
		t.Skip("EDICT_LOAD_MINUTES says how long")
	}
	s := setScene(t, scene{controllers: 1, sets: true})
	for i := range 48 {
		name := fmt.Sprintf("p%d", i)
		s.policy(name, nodeRule(name, fmt.Sprintf("n%03d", i%nodeCount), fmt.Sprintf(`annotations: {set: {p%d: "${object.metadata.labels.zone}"}}`, i)))
	}
	for i := range 48 {
		s.ready(fmt.Sprintf("p%d", i), time.Minute)
	}
	d := &delays{since: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { d.watch(ctx, s) })
	defer func() { cancel(); watching.Wait() }()
	before, resident := s.costs()
	most, began := resident, time.Now()
	s.traffic.rate, s.traffic.wrote = numberOf(t, "EDICT_LOAD_RATE", 100), d.wrote
	s.traffic.begin()
	for time.Since(began) < time.Duration(minutes)*time.Minute {
		time.Sleep(5 * time.Second)
		_, resident = s.costs()
		most = max(most, resident)
	}
	s.traffic.end(0)
	after, _ := s.costs()
	s.converged("after the load", 30*time.Second)
	if len(d.took) < 100 {
		t.Fatalf("VOID: only %d delays were measured", len(d.took))
	}
	t.Logf("F1: %d changes a second for %d minutes: written after %v (half), %v (99 %%), %v (all of %d); %.2f cores, %.0f MiB resident at most",
		s.traffic.rate, minutes, d.share(0.5), d.share(0.99), d.share(1), len(d.took), (after-before)/time.Since(began).Seconds(), most)
	s.judge()
}

// TestManyPolicies (F5): EDICT_POLICIES policies (300) in ConfigMaps, about nodes or
// about EDICT_KINDS custom resources.
func TestManyPolicies(t *testing.T) {
	s := setScene(t, scene{controllers: 1, sets: true})
	many, kinds := numberOf(t, "EDICT_POLICIES", 300), numberOf(t, "EDICT_KINDS", 0)
	c := s.controllers[0]
	c.stop()
	s.kinds(kinds)
	inParallel(many, func(i int) {
		name := fmt.Sprintf("p%d", i)
		text := nodeRule(name, fmt.Sprintf("n%03d", i%nodeCount), fmt.Sprintf(`annotations: {set: {p%d: "${object.metadata.name}"}}`, i))
		if kinds > 0 {
			text = fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: %s}\nspec:\n  for: {apiVersion: load.example.com/v1, kind: Load%d}\n  rules: [{name: mark, do: [{annotations: {set: {%s: \"${object.metadata.name}\"}}}]}]\n", name, i%kinds, name)
		}
		s.policy(name, text)
	})
	began := time.Now()
	before := c.started()
	c.start()
	s.eventually("each policy has written", time.Duration(many)*time.Second/2, func(ctx context.Context) string { return s.annotated(ctx, many, kinds) })
	took := time.Since(began)
	time.Sleep(10 * time.Second) // what becomes of the policies is written to the status of their sets
	cpu, resident := s.costs()
	heap, _ := c.gauge(t.Context(), "go_memstats_heap_inuse_bytes")
	t.Logf("F5: %d policies about %d kinds are loaded and have written after %v; %.1f s of CPU, %.0f MiB resident, heap %.0f MiB; started %d times",
		many, max(kinds, 1), took.Round(100*time.Millisecond), cpu, resident, heap/(1<<20), c.started()-before)
}

// loadKind is one of the custom resources of a case.
func loadKind(i int) kschema.GroupVersionResource {
	return kschema.GroupVersionResource{Group: "load.example.com", Version: "v1", Resource: fmt.Sprintf("load%ds", i)}
}

// kinds makes custom resources, with one object each.
func (s *stage) kinds(n int) {
	s.t.Helper()
	crds := kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	for i := range n {
		plural, kind := loadKind(i).Resource, fmt.Sprintf("Load%d", i)
		s.must(s.client.Resource(crds).Create(s.t.Context(), &unstructured.Unstructured{Object: object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": plural + ".load.example.com"},
			"spec": object{"group": "load.example.com", "scope": "Cluster", "names": object{"plural": plural, "singular": fmt.Sprintf("load%d", i), "kind": kind},
				"versions": []any{object{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{"type": "object"}}}}},
		}}, metav1.CreateOptions{}))
	}
	for i := range n {
		s.eventually("the kind is served", 2*time.Minute, func(ctx context.Context) string {
			_, err := s.client.Resource(loadKind(i)).Create(ctx, &unstructured.Unstructured{Object: object{
				"apiVersion": "load.example.com/v1", "kind": fmt.Sprintf("Load%d", i), "metadata": object{"name": "one"},
			}}, metav1.CreateOptions{})
			if err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

// annotated says how many annotations are missing, of one for each policy.
func (s *stage) annotated(ctx context.Context, many, kinds int) string {
	found := 0
	count := func(api kschema.GroupVersionResource) error {
		list, err := s.client.Resource(api).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, o := range list.Items {
			found += len(o.GetAnnotations())
		}
		return nil
	}
	err := error(nil)
	if kinds == 0 {
		err = count(nodes)
	}
	for i := 0; i < kinds && err == nil; i++ {
		err = count(loadKind(i))
	}
	if err != nil {
		return err.Error()
	}
	if found < many {
		return fmt.Sprintf("there are %d annotations of %d", found, many)
	}
	return ""
}
