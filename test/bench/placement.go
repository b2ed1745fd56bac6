package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/world"
)

// placing is a pool of some nodes with two volume groups each, and volumes
// with three Diskful replicas to place.
type placing struct {
	ctx    context.Context
	nodes  int
	policy *plan.Policy
	group  *reconcile.Group
	store  *world.Store
	shared *eval.Shared
}

// placementSizes are the numbers of nodes that placing is measured with.
var placementSizes = []int{100, 1000, 5000}

const storageVersion = "storage.deckhouse.io/v1alpha1"

// volumes is how many volumes wait to be placed.
const volumes = 64

func newPlacing(ctx context.Context, nodes int) (*placing, error) {
	policy, schemas, err := shipped("replica-scheduling")
	if err != nil {
		return nil, err
	}
	p := &placing{ctx: ctx, nodes: nodes, policy: policy, store: world.NewStore(), shared: &eval.Shared{}}
	p.group = reconcile.NewGroup(p.store, nothing{}, schemas)
	p.group.Answers = inProcess{}
	p.group.Add(policy)
	p.put(eligiblePool(nodes, -1))
	for i := range volumes {
		p.put(volume(i))
		for r := range 3 {
			p.put(replica(i, r))
		}
	}
	return p, nil
}

func (p *placing) put(o object) {
	for _, source := range p.group.AllSources() {
		if source.Kind == o["kind"] {
			p.group.Put(p.ctx, source, o)
		}
	}
}

// eligiblePool is a pool whose nodes are all ready, but for one.
func eligiblePool(nodes, cordoned int) object {
	list := make([]any, nodes)
	for i := range list {
		list[i] = object{
			"nodeName": nodeName(i), "zoneName": fmt.Sprintf("zone-%d", i%3), "unschedulable": i == cordoned, "nodeReady": true, "agentReady": true,
			"lvmVolumeGroups": []any{
				object{"name": fmt.Sprintf("vg-%05d-a", i), "unschedulable": false, "ready": true},
				object{"name": fmt.Sprintf("vg-%05d-b", i), "unschedulable": false, "ready": true},
			},
		}
	}
	return object{
		"apiVersion": storageVersion, "kind": "ReplicatedStoragePool", "metadata": object{"name": "pool"},
		"spec": object{"type": "LVM"}, "status": object{"eligibleNodes": list, "eligibleNodesRevision": int64(1)},
	}
}

func volumeName(i int) string { return fmt.Sprintf("volume-%04d", i) }

func volume(i int) object {
	return object{
		"apiVersion": storageVersion, "kind": "ReplicatedVolume", "metadata": object{"name": volumeName(i)}, "spec": object{"size": "10Gi"},
		"status": object{
			"configuration": object{
				"topology": "Zonal", "replication": "ConsistencyAndAvailability", "volumeAccess": "PreferablyLocal", "storagePoolName": "pool",
			},
			"desiredAttachTo": []any{nodeName(i)},
		},
	}
}

func replica(i, r int) object {
	return object{
		"apiVersion": storageVersion, "kind": "ReplicatedVolumeReplica", "metadata": object{"name": fmt.Sprintf("%s-%d", volumeName(i), r), "generation": int64(1)},
		"spec": object{"replicatedVolumeName": volumeName(i), "type": "Diskful"},
	}
}

// inProcess answers like an extender on whose groups there is as much room as
// their place in the list says.
type inProcess struct{}

// Answer implements expr.Answerer.
func (inProcess) Answer(_ context.Context, request *expr.Request) (*expr.Response, error) {
	out := &expr.Response{Verdicts: make([]expr.Verdict, len(request.Candidates))}
	for i := range request.Candidates {
		out.Verdicts[i] = expr.Verdict{Keep: i%17 != 0, Score: int64(1 + i%10)}
	}
	return out, nil
}

func (p *placing) place(volume int, shared *eval.Shared) *eval.Decision {
	return eval.Evaluate(p.ctx, eval.Input{
		Policy: p.policy, Key: eval.Key{Name: volumeName(volume)}, World: p.store.Snapshot(), Now: now, Answers: inProcess{}, Shared: shared,
	}, nil)
}

// benchPlace places the replicas of one new volume after the other.
func benchPlace(b *testing.B, p *placing) {
	p.place(0, p.shared)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if d := p.place(i%volumes, p.shared); len(d.Effects) != 6 || len(d.Problems) > 0 {
			b.Fatalf("%d effects, %v", len(d.Effects), d.Problems)
		}
	}
}

// benchPlaceFirst places the first volume of a pool that nobody has looked at.
func benchPlaceFirst(b *testing.B, p *placing) {
	b.ReportAllocs()
	for i := range b.N {
		if d := p.place(i%volumes, &eval.Shared{}); len(d.Effects) != 6 {
			b.Fatalf("%d effects, %v", len(d.Effects), d.Problems)
		}
	}
}

// benchPlaceChanged places a volume after one node of the pool has changed.
func benchPlaceChanged(b *testing.B, p *placing) {
	p.place(0, p.shared)
	pools := [2]object{eligiblePool(p.nodes, 7), eligiblePool(p.nodes, -1)}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		p.put(pools[i%2])
		b.StartTimer()
		if d := p.place(i%volumes, p.shared); len(d.Effects) != 6 {
			b.Fatalf("%d effects, %v", len(d.Effects), d.Problems)
		}
	}
}
