package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	client "github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/extender"
)

// The sizes of the live world.
const (
	liveNodes   = 30
	liveVolumes = 300
	liveWorkers = 10
)

// live compares placing volumes on a real control plane, with a real extender,
// with sending the same number of patches of the same size without deciding
// anything.
func live(ctx context.Context) error {
	ctrl.SetLogger(logr.Discard())
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { _ = plane.Stop() }()
	if err := plane.InstallCRDs(ctx, filepath.Join("test", "crds")); err != nil {
		return err
	}
	l, err := newLiveWorld(plane)
	if err != nil {
		return err
	}
	var bare, placing time.Duration
	for round := range 2 {
		b, err := l.bare(ctx, fmt.Sprintf("bare%d", round))
		if err != nil {
			return err
		}
		p, err := l.place(ctx, fmt.Sprintf("live%d", round))
		if err != nil {
			return err
		}
		bare, placing = bare+b, placing+p
	}
	replicas := 2 * 3 * liveVolumes
	perSecond := func(d time.Duration) float64 { return float64(replicas) / d.Seconds() }
	fmt.Printf("\nlive, real control plane and extender: %.0f replicas placed per second; bare patches of the same number and size: %.0f per second (%.2f of it)\n",
		perSecond(placing), perSecond(bare), perSecond(placing)/perSecond(bare))
	return nil
}

type liveWorld struct {
	plane  *controlplane.ControlPlane
	config *rest.Config
	client dynamic.Interface
	meta   metadata.Interface
}

func newLiveWorld(plane *controlplane.ControlPlane) (*liveWorld, error) {
	config := rest.CopyConfig(plane.Config())
	config.QPS, config.Burst = -1, 0
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	m, err := metadata.NewForConfig(config)
	return &liveWorld{plane: plane, config: config, client: c, meta: m}, err
}

func kind(plural string) kschema.GroupVersionResource {
	return kschema.GroupVersionResource{Group: "storage.deckhouse.io", Version: "v1alpha1", Resource: plural}
}

// create makes volumes with three replicas each, and returns the names and
// versions of the replicas.
func (l *liveWorld) create(ctx context.Context, prefix string) ([]*unstructured.Unstructured, error) {
	p := eligiblePool(liveNodes, -1)
	p["spec"] = object{"type": "LVM", "systemNetworkNames": []any{"Internal"}, "lvmVolumeGroups": []any{object{"name": "vg"}}, "eligibleNodesPolicy": object{"notReadyGracePeriod": "10m"}}
	p["metadata"] = object{"name": prefix}
	if err := l.put(ctx, "replicatedstoragepools", p); err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, 3*liveVolumes)
	return out, each(len(out), func(i int) error {
		v := reread(volume(i / 3))
		v["metadata"].(object)["name"] = prefix + "-" + volumeName(i/3)
		v["status"].(object)["configuration"].(object)["storagePoolName"] = prefix
		if i%3 == 0 {
			if err := l.put(ctx, "replicatedvolumes", v); err != nil {
				return err
			}
		}
		r := reread(replica(i/3, i%3))
		r["metadata"] = object{"name": fmt.Sprintf("%s-%s-%d", prefix, volumeName(i/3), i%3)}
		r["spec"].(object)["replicatedVolumeName"] = prefix + "-" + volumeName(i/3)
		made, err := l.client.Resource(kind("replicatedvolumereplicas")).Create(ctx, &unstructured.Unstructured{Object: r}, metav1.CreateOptions{})
		out[i] = made
		return err
	})
}

func (l *liveWorld) put(ctx context.Context, plural string, o object) error {
	api := l.client.Resource(kind(plural))
	status, err := json.Marshal(object{"status": o["status"]})
	if err != nil {
		return err
	}
	made, err := api.Create(ctx, &unstructured.Unstructured{Object: reread(o)}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = api.Patch(ctx, made.GetName(), types.MergePatchType, status, metav1.PatchOptions{}, "status")
	return err
}

// each calls a function for every number below n, by several workers.
func each(n int, do func(int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, liveWorkers)
	for w := range liveWorkers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += liveWorkers {
				errs[w] = do(i)
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

// bare patches replicas as the controller does, without deciding anything.
func (l *liveWorld) bare(ctx context.Context, prefix string) (time.Duration, error) {
	replicas, err := l.create(ctx, prefix)
	if err != nil {
		return 0, err
	}
	api := l.meta.Resource(kind("replicatedvolumereplicas"))
	start := time.Now()
	err = each(len(replicas), func(i int) error {
		r := replicas[i]
		spec := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"nodeName":%q,"lvmVolumeGroupName":"vg-%05d-a"}}`, r.GetResourceVersion(), nodeName(i%liveNodes), i%liveNodes)
		got, err := api.Patch(ctx, r.GetName(), types.MergePatchType, []byte(spec), metav1.PatchOptions{FieldManager: "bench"})
		if err != nil {
			return err
		}
		status := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"status":{"conditions":[{"type":"Scheduled","status":"True","reason":"Scheduled","message":"Replica scheduled successfully","observedGeneration":2,"lastTransitionTime":"2026-03-01T12:00:00Z"}]}}`, got.ResourceVersion)
		_, err = api.Patch(ctx, r.GetName(), types.MergePatchType, []byte(status), metav1.PatchOptions{FieldManager: "bench"}, "status")
		return err
	})
	return time.Since(start), err
}

// place lets the controller place replicas: from its first write to its last.
func (l *liveWorld) place(ctx context.Context, prefix string) (time.Duration, error) {
	if _, err := l.create(ctx, prefix); err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "edict-bench")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	asked, connected, err := startExtender(folder)
	if err != nil {
		return 0, err
	}
	defer func() { _ = asked.Close() }()
	registry := prometheus.NewRegistry()
	before := counted // the counters are the process's: an earlier round has counted, too
	inner, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- run.Run(inner, run.Options{
			Config: l.config, Policies: []string{filepath.Join("policies", "replica-scheduling.yaml")}, Answers: expr.Answerers{"extender": connected},
			Registry: registry, Workers: liveWorkers, Log: slog.New(slog.DiscardHandler),
		})
	}()
	var first time.Time
	for {
		select {
		case err := <-done:
			stop()
			return 0, fmt.Errorf("the controller has ended: %w", err)
		case <-time.After(time.Millisecond):
		}
		n := written(registry)
		if first.IsZero() && n > before {
			first = time.Now()
		}
		if n-before >= 2*3*liveVolumes {
			counted = n
			stop()
			return time.Since(first), <-done
		}
	}
}

func startExtender(folder string) (*extender.Running, *client.Client, error) {
	running, err := extender.ListenTLS(folder)
	if err != nil {
		return nil, nil, err
	}
	capacity := map[extender.Pool]extender.Capacity{}
	for i := range liveNodes {
		for _, letter := range []string{"a", "b"} {
			capacity[extender.Pool{Name: fmt.Sprintf("vg-%05d-%s", i, letter)}] = extender.Capacity{Size: 1 << 50}
		}
	}
	running.Server.SetCapacity(capacity)
	connected, err := client.New(client.Config{URL: running.URL, CAFile: running.CAFile, CertFile: running.ClientCertFile, KeyFile: running.ClientKeyFile})
	return running, connected, err
}

// counted is how many writes earlier rounds have made.
var counted float64

// written counts the writes that controllers of this process have made.
func written(registry *prometheus.Registry) (n float64) {
	families, err := registry.Gather()
	if err != nil {
		return 0
	}
	for _, f := range families {
		if f.GetName() != "edict_effects_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "result" && l.GetValue() == "written" {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}
