// Package live measures placing volumes on a real control plane, with a real scheduler
// extender.
package live

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/controlplane"
)

type object = objects.Object

// The sizes of the live world.
const (
	liveNodes   = 30
	liveVolumes = 300
	liveWorkers = run.DefaultWorkers
	// rounds is how often each side is measured, in turns; neither is always the first.
	rounds = 4
)

// Run compares placing volumes on a real control plane, with a real extender,
// with sending the same number of patches of the same size without deciding
// anything.
func Run(ctx context.Context, to io.Writer) error {
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
	var bare, placing cost
	for turn := range 2 * rounds {
		measure, sum := l.bare, &bare
		if (turn+1)/2%2 == 1 {
			measure, sum = l.place, &placing
		}
		one, err := measure(ctx, fmt.Sprintf("turn%d", turn))
		if err != nil {
			return err
		}
		*sum = sum.plus(one)
	}
	return report(to, bare, placing)
}

// report prints the rates, and the CPU time, which says more where the machine is shared.
func report(to io.Writer, bare, placing cost) error {
	const replicas = rounds * 3 * liveVolumes
	perSecond := func(c cost) float64 { return replicas / c.time.Seconds() }
	_, err := fmt.Fprintf(to, "live, real control plane and extender: %.0f replicas placed per second; bare patches of the same number and size: %.0f per second (%.2f of it)\nCPU time of a replica: placed %s; bare patches %s (%.2f of it)\n",
		perSecond(placing), perSecond(bare), perSecond(placing)/perSecond(bare),
		placing.cpu.each(replicas), bare.cpu.each(replicas), bare.cpu.sum().Seconds()/placing.cpu.sum().Seconds())
	return err
}

type liveWorld struct {
	plane  *controlplane.ControlPlane
	config *rest.Config
	client dynamic.Interface
	meta   metadata.Interface
	writes writes
}

func newLiveWorld(plane *controlplane.ControlPlane) (*liveWorld, error) {
	config := rest.CopyConfig(plane.Config())
	config.QPS, config.Burst = -1, 0
	l := &liveWorld{plane: plane, config: config}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return counting{&l.writes, next}
	})
	var err error
	if l.client, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	l.meta, err = metadata.NewForConfig(config)
	return l, err
}

func kind(plural string) kschema.GroupVersionResource {
	return kschema.GroupVersionResource{Group: "storage.deckhouse.io", Version: "v1alpha1", Resource: plural}
}

// clear deletes the objects of the round before: neither side has to do with them.
func (l *liveWorld) clear(ctx context.Context) error {
	for _, plural := range []string{"replicatedvolumereplicas", "replicatedvolumes", "replicatedstoragepools"} {
		if err := l.client.Resource(kind(plural)).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// create makes volumes with three replicas each, and returns the names and
// versions of the replicas.
func (l *liveWorld) create(ctx context.Context, prefix string) ([]*unstructured.Unstructured, error) {
	if err := l.clear(ctx); err != nil {
		return nil, err
	}
	p := objects.EligiblePool(prefix, 0, liveNodes, -1, 1)
	p["metadata"] = object{"name": prefix}
	if err := l.put(ctx, "replicatedstoragepools", p); err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, 3*liveVolumes)
	return out, each(len(out), func(i int) error {
		v := reread(objects.Volume(i/3, "Zonal", prefix, objects.NodeName(i/3%liveNodes)))
		v["metadata"] = object{"name": prefix + "-" + objects.VolumeName(i/3)}
		if i%3 == 0 {
			if err := l.put(ctx, "replicatedvolumes", v); err != nil {
				return err
			}
		}
		r := reread(objects.Replica(i/3, i%3))
		r["metadata"] = object{"name": fmt.Sprintf("%s-%s-%d", prefix, objects.VolumeName(i/3), i%3)}
		r["spec"].(object)["replicatedVolumeName"] = prefix + "-" + objects.VolumeName(i/3)
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

// reread returns an object as it comes from the wire, without the metadata that a
// server sets.
func reread(o object) object {
	var out object
	if err := json.Unmarshal(objects.Text(o), &out); err != nil {
		panic(err) // it was encoded above
	}
	return out
}
