package live

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	client "github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/extender"
)

// barePatches is the field manager of the patches without decisions. It is not that of
// who makes the objects, as a controller's is not: each manager costs the API server work.
const barePatches = "bench/bare-patches"

// bare patches replicas as the controller does, without deciding anything.
func (l *liveWorld) bare(ctx context.Context, prefix string) (cost, error) {
	replicas, err := l.create(ctx, prefix)
	if err != nil {
		return cost{}, err
	}
	api := l.meta.Resource(kind("replicatedvolumereplicas"))
	patches := l.writes.begin(2 * 3 * liveVolumes)
	err = each(len(replicas), func(i int) error {
		r := replicas[i]
		spec := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"nodeName":%q,"lvmVolumeGroupName":%q}}`, r.GetResourceVersion(), objects.NodeName(i%liveNodes), objects.GroupName(i%liveNodes, 0))
		got, err := api.Patch(ctx, r.GetName(), types.MergePatchType, []byte(spec), metav1.PatchOptions{FieldManager: barePatches})
		if err != nil {
			return err
		}
		status := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"status":{"conditions":[{"type":"Scheduled","status":"True","reason":"Scheduled","message":"Replica scheduled successfully","observedGeneration":2,"lastTransitionTime":"2026-03-01T12:00:00Z"}]}}`, got.ResourceVersion)
		_, err = api.Patch(ctx, r.GetName(), types.MergePatchType, []byte(status), metav1.PatchOptions{FieldManager: barePatches}, "status")
		return err
	})
	if err != nil {
		return cost{}, err
	}
	return patches.took(), nil
}

// place lets the controller place replicas: from its first write to its last.
func (l *liveWorld) place(ctx context.Context, prefix string) (cost, error) {
	if _, err := l.create(ctx, prefix); err != nil {
		return cost{}, err
	}
	folder, err := os.MkdirTemp("", "edict-bench")
	if err != nil {
		return cost{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	asked, connected, err := startExtender(folder)
	if err != nil {
		return cost{}, err
	}
	defer func() { _ = asked.Close() }()
	patches := l.writes.begin(2 * 3 * liveVolumes)
	inner, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- run.Run(inner, run.Options{
			Config: l.config, Policies: []string{filepath.Join("policies", "replica-scheduling.yaml")}, Answers: expr.Answerers{"extender": connected},
			Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
		})
	}()
	select {
	case err := <-done:
		stop()
		return cost{}, fmt.Errorf("the controller has ended: %w", err)
	case <-patches.done:
		stop()
		return patches.took(), <-done
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
