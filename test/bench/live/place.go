package live

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	client "github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/extender"
)

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
		spec := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"nodeName":%q,"lvmVolumeGroupName":%q}}`, r.GetResourceVersion(), objects.NodeName(i%liveNodes), objects.GroupName(i%liveNodes, 0))
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

// pollInterval is the interval between looks at the metrics of the controller. All of
// them are gathered, in the process that is measured: every millisecond that would be a
// load of its own.
const pollInterval = 25 * time.Millisecond

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
			Registry: registry, Workers: liveWorkers, PolicyQPS: -1, Log: slog.New(slog.DiscardHandler),
		})
	}()
	var first time.Time
	for {
		select {
		case err := <-done:
			stop()
			return 0, fmt.Errorf("the controller has ended: %w", err)
		case <-time.After(pollInterval):
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
		for which := range 2 {
			capacity[extender.Pool{Name: objects.GroupName(i, which)}] = extender.Capacity{Size: 1 << 50}
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
