package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/controlplane"
)

// world writes the objects.
type world struct {
	client dynamic.Interface
	sizes  sizes
}

func newWorld(plane *controlplane.ControlPlane, s sizes) (*world, error) {
	config := rest.CopyConfig(plane.Config())
	config.QPS, config.Burst = -1, 0
	client, err := dynamic.NewForConfig(config)
	return &world{client: client, sizes: s}, err
}

var (
	nodes    = kschema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	groups   = storage("lvmvolumegroups")
	pools    = storage("replicatedstoragepools")
	volumes  = storage("replicatedvolumes")
	replicas = storage("replicatedvolumereplicas")
)

func storage(plural string) kschema.GroupVersionResource {
	return kschema.GroupVersionResource{Group: "storage.deckhouse.io", Version: "v1alpha1", Resource: plural}
}

func poolName(i int) string { return fmt.Sprintf("pool-%d", i) }

// fill makes all objects.
func (w *world) fill(ctx context.Context) error {
	s := w.sizes
	began := time.Now()
	for _, part := range []struct {
		n    int
		make func(i int) error
	}{
		{s.nodes, func(i int) error { return w.put(ctx, nodes, objects.Node(i, false), false) }},
		{2 * s.nodes, func(i int) error { return w.put(ctx, groups, objects.Group(i/2, i%2), true) }},
		{s.pools, func(i int) error { return w.put(ctx, pools, w.pool(i, -1), true) }},
		{s.volumes, func(i int) error {
			first := i % s.pools * s.perPool()
			return w.put(ctx, volumes, objects.Volume(i, "TransZonal", poolName(i%s.pools), objects.NodeName(first+i%s.perPool())), true)
		}},
		{objects.Replicas * s.volumes, func(i int) error {
			return w.put(ctx, replicas, objects.Replica(i/objects.Replicas, i%objects.Replicas), false)
		}},
	} {
		if err := each(part.n, part.make); err != nil {
			return err
		}
	}
	fmt.Printf("%d nodes, %d groups, %d pools, %d volumes with %d replicas: made in %v\n\n",
		s.nodes, 2*s.nodes, s.pools, s.volumes, objects.Replicas*s.volumes, time.Since(began).Round(time.Second))
	return nil
}

// pool returns a pool with its nodes, all ready but one.
func (w *world) pool(i, cordoned int) objects.Object {
	return objects.EligiblePool(poolName(i), i*w.sizes.perPool(), w.sizes.perPool(), cordoned, 1)
}

// put makes an object, and writes its status where that takes a request of its own.
func (w *world) put(ctx context.Context, to kschema.GroupVersionResource, o objects.Object, status bool) error {
	object := plain(o)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	if _, err := w.client.Resource(to).Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	if !status {
		return nil
	}
	return w.patch(ctx, to, objects.Name(o), objects.Object{"status": o["status"]})
}

// patch writes the status of an object.
func (w *world) patch(ctx context.Context, to kschema.GroupVersionResource, name string, body objects.Object) error {
	_, err := w.client.Resource(to).Patch(ctx, name, types.MergePatchType, objects.Text(body), metav1.PatchOptions{}, "status")
	return err
}

func plain(o objects.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(objects.Text(o)); err != nil {
		panic(err) // it was encoded here
	}
	return u
}

// heartbeats reports from every node, as fast as the API server takes it.
func (w *world) heartbeats(ctx context.Context) error {
	began := time.Now()
	at := began.UTC().Format(time.RFC3339)
	err := each(w.sizes.nodes, func(i int) error {
		o := objects.Heartbeat(i, at)
		return w.patch(ctx, nodes, objects.Name(o), objects.Object{"status": objects.Object{"conditions": o["status"].(objects.Object)["conditions"]}})
	})
	fmt.Printf("  %.0f heartbeats a second\n", float64(w.sizes.nodes)/time.Since(began).Seconds())
	return err
}

// changePool makes a node of a pool unschedulable.
func (w *world) changePool(ctx context.Context) error {
	return w.patch(ctx, pools, poolName(0), objects.Object{"status": w.pool(0, 1)["status"]})
}

// each calls a function for every number below n, by several workers.
func each(n int, do func(int) error) error {
	const workers = 16
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for k := range workers {
		wg.Go(func() {
			for i := k; i < n && errs[k] == nil; i += workers {
				errs[k] = do(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
