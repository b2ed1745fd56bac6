package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

type object = map[string]any

// The sizes of the world.
const (
	nodeCount  = 5000
	groupCount = 10000
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// node is a Node as kubelets write it, with everything that nobody reads.
func node(i int, cordoned bool) object {
	var images []any
	for j := range 20 {
		images = append(images, object{"names": []any{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", j, i), fmt.Sprintf("registry.example.com/team/image-%d:v1.%d", j, i)}, "sizeBytes": int64(1e8 + j)})
	}
	condition := func(kind, status, reason string) object {
		return object{"type": kind, "status": status, "reason": reason, "message": "kubelet reports " + reason,
			"lastHeartbeatTime": "2026-03-01T11:59:50Z", "lastTransitionTime": "2026-02-01T00:00:00Z"}
	}
	return object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{
			"name": nodeName(i), "uid": fmt.Sprintf("00000000-0000-0000-0000-%012d", i), "resourceVersion": fmt.Sprint(100000 + i),
			"creationTimestamp": "2026-01-01T00:00:00Z",
			"labels": object{
				"kubernetes.io/hostname": nodeName(i), "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
				"node.kubernetes.io/instance-type": "c5.4xlarge", "topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3),
			},
			"annotations": object{"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true", "csi.volume.kubernetes.io/nodeid": `{"driver":"` + nodeName(i) + `"}`},
		},
		"spec": object{"podCIDR": "10.0.0.0/24", "podCIDRs": []any{"10.0.0.0/24"}, "providerID": "cloud:///" + nodeName(i), "unschedulable": cordoned},
		"status": object{
			"addresses":   []any{object{"type": "InternalIP", "address": "10.0.0.1"}, object{"type": "Hostname", "address": nodeName(i)}},
			"allocatable": object{"cpu": "15890m", "memory": "63Gi", "pods": "110", "ephemeral-storage": "95Gi"},
			"capacity":    object{"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"},
			"conditions": []any{
				condition("MemoryPressure", "False", "KubeletHasSufficientMemory"), condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
				condition("PIDPressure", "False", "KubeletHasSufficientPID"), condition("Ready", "True", "KubeletReady"),
			},
			"images": images,
			"nodeInfo": object{
				"kernelVersion": "6.8.0-1021", "kubeletVersion": "v1.36.3", "osImage": "Debian GNU/Linux 12", "containerRuntimeVersion": "containerd://2.0.0",
				"machineID": fmt.Sprintf("%032d", i), "systemUUID": fmt.Sprintf("%032d", i), "bootID": fmt.Sprintf("%032d", i), "operatingSystem": "linux", "architecture": "amd64", "kubeProxyVersion": "",
			},
		},
	}
}

func group(i int) object {
	return object{
		"apiVersion": "storage.deckhouse.io/v1alpha1", "kind": "LVMVolumeGroup", "metadata": object{"name": fmt.Sprintf("vg-%05d", i)},
		"spec": object{"type": "Local", "actualVGNameOnTheNode": "vg", "local": object{"nodeName": nodeName(i / 2)}},
		"status": object{"vgSize": "1Ti", "vgFree": "500Gi", "phase": "Ready", "conditions": []any{
			object{"type": "VGReady", "status": "True", "reason": "x", "message": "", "lastTransitionTime": "2026-02-01T00:00:00Z"},
			object{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-02-01T00:00:00Z"},
		}},
	}
}

func agentPod(i int) object {
	return object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": fmt.Sprintf("agent-%05d", i), "namespace": "d8-sds-replicated-volume", "labels": object{"app": "agent"}},
		"spec": object{"nodeName": nodeName(i)}, "status": object{"phase": "Running", "conditions": []any{object{"type": "Ready", "status": "True"}}},
	}
}

func pool() object {
	var refs []any
	for i := range groupCount {
		refs = append(refs, object{"name": fmt.Sprintf("vg-%05d", i)})
	}
	return object{
		"apiVersion": "storage.deckhouse.io/v1alpha1", "kind": "ReplicatedStoragePool", "metadata": object{"name": "pool", "generation": int64(1)},
		"spec": object{"type": "LVM", "lvmVolumeGroups": refs, "eligibleNodesPolicy": object{"notReadyGracePeriod": "10m"}},
	}
}

// edict is the read model with the policy, and nothing to write to.
type edict struct {
	ctx        context.Context //nolint:containedctx // one benchmark run
	store      *world.Store
	group      *reconcile.Group
	controller *reconcile.Controller
	policy     *plan.Policy
	key        eval.Key
}

// nothing is a fake writer for benchmarks: it drops what it is given.
type nothing struct{}

func (nothing) Patch(context.Context, apply.Patch) (world.Version, error) {
	return world.Version{}, nil
}
func (nothing) Event(context.Context, apply.Event) error     { return nil }
func (nothing) Delete(context.Context, apply.Deletion) error { return nil }
func (nothing) Make(context.Context, apply.Manifest) (world.Version, error) {
	return world.Version{}, nil
}
func (nothing) Live(context.Context, world.ID) (world.Version, string, error) {
	return world.Version{}, "", nil
}

func newEdict(ctx context.Context) (*edict, error) {
	policy, schemas, err := shipped("storage-pool-eligibility")
	if err != nil {
		return nil, err
	}
	e := &edict{ctx: ctx, store: world.NewStore(), policy: policy, key: eval.Key{Name: "pool"}}
	e.group = reconcile.NewGroup(e.store, nothing{}, schemas)
	e.controller = e.group.Add(e.policy)
	return e, nil
}

// shipped compiles a policy that this project ships.
func shipped(name string) (*plan.Policy, *schema.Set, error) {
	bundle, err := source.Load([]string{filepath.Join("policies", name+".yaml")}, source.Options{})
	if err != nil {
		return nil, nil, err
	}
	if err := bundle.Err(); err != nil {
		return nil, nil, err
	}
	return bundle.Policies[0], bundle.Schemas, nil
}

func (e *edict) put(o object) int {
	woken := 0
	for _, source := range e.controller.Sources() {
		if source.Kind == o["kind"] {
			woken += len(e.group.Put(e.ctx, source, o))
		}
	}
	return woken
}

func (e *edict) fill() {
	for i := range nodeCount {
		e.put(node(i, false))
		e.put(agentPod(i))
	}
	for i := range groupCount {
		e.put(group(i))
	}
	e.put(pool())
}

// settle evaluates, and puts the status that was decided into the world, as
// the API server would.
func (e *edict) settle() error {
	d := e.controller.Evaluate(e.ctx, e.key, now)
	if len(d.Problems) > 0 {
		return d.Problems[0].Err
	}
	p := pool()
	for _, effect := range d.Effects {
		body, _ := value.Plain(effect.Patch).(object)
		p["status"] = body["status"]
	}
	e.put(p)
	if again := e.controller.Evaluate(e.ctx, e.key, now); len(again.Effects) > 0 {
		return errors.New("the pool does not come to rest")
	}
	return nil
}

// byHand fills the caches of the hand-written version with the same world.
func byHand() (*storagePool, *caches, error) {
	p := &storagePool{grace: 10 * time.Minute}
	c := &caches{}
	for i := range nodeCount {
		n, pod := &corev1.Node{}, &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(node(i, false), n); err != nil {
			return nil, nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(agentPod(i), pod); err != nil {
			return nil, nil, err
		}
		c.nodes, c.agents = append(c.nodes, n), append(c.agents, pod)
	}
	for i := range groupCount {
		name := fmt.Sprintf("vg-%05d", i)
		c.groups = append(c.groups, &volumeGroup{name: name, node: nodeName(i / 2), ready: true})
		p.refs = append(p.refs, reference{name: name})
	}
	p.eligible, _, _ = eligibility(p, c, now)
	return p, c, nil
}

// reread returns an object as it comes from the wire: nothing shared.
func reread(o object) object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out object
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// fresh evaluates the pool without a memory.
func (e *edict) fresh() *eval.Decision {
	return eval.Evaluate(e.ctx, eval.Input{Policy: e.policy, Key: e.key, World: e.store.Snapshot(), Now: now}, nil)
}
