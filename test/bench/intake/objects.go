package intake

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/edict-dev/edict/test/bench/objects"
)

// kind is the objects of a kind, as watches send them.
type kind struct {
	// name is that of the kind, title what the table calls its objects.
	name, title string
	n           int
	make        func(i int) objects.Object
}

// sizes are how many nodes there are, and how many of them a pool has. There are as
// many volumes, with three replicas each.
type sizes struct{ nodes, perPool int }

// full is the cluster that is measured, with pools as large as the API server takes
// them.
var full = sizes{nodes: 5000, perPool: 1000}

// agentLabel is what the nodes of pools carry already.
const agentLabel = "storage.deckhouse.io/sds-replicated-volume-node"

func poolName(i int) string { return fmt.Sprintf("pool-%d", i) }

// pools returns the pools, which are few.
func (s sizes) pools() kind {
	return kind{"ReplicatedStoragePool", "pools", s.nodes / s.perPool, func(i int) objects.Object {
		return objects.EligiblePool(poolName(i), i*s.perPool, s.perPool, -1, 1)
	}}
}

// kinds returns the objects of which there are many. Everything is settled: nodes are
// labelled, replicas placed on three nodes in a row, which are in three zones.
func (s sizes) kinds() []kind {
	return []kind{
		{"Node", "nodes", s.nodes, func(i int) objects.Object {
			o := objects.Node(i, false)
			o["metadata"].(objects.Object)["labels"].(objects.Object)[agentLabel] = ""
			return o
		}},
		{"LVMVolumeGroup", "volume groups", 2 * s.nodes, func(i int) objects.Object { return objects.Group(i/2, i%2) }},
		{"Pod", "Pods of the agent", s.nodes, objects.AgentPod},
		{"ReplicatedVolume", "volumes", s.nodes, func(i int) objects.Object {
			return objects.Volume(i, "TransZonal", poolName(i%s.pools().n), objects.NodeName(s.place(i)))
		}},
		{"ReplicatedVolumeReplica", "replicas", objects.Replicas * s.nodes, func(i int) objects.Object {
			volume, r := i/objects.Replicas, i%objects.Replicas
			return objects.Placed(volume, r, s.place(volume)+r)
		}},
	}
}

// place returns the node of the first replica of a volume.
func (s sizes) place(volume int) int {
	pool := volume % s.pools().n
	return pool*s.perPool + volume%(s.perPool-objects.Replicas+1)
}

// texts are the objects of a kind as JSON, outside the heap: the collector has not to
// wait longer because of them.
type texts struct {
	all  []byte
	each [][]byte
}

func newTexts(k kind) (texts, error) {
	var t texts
	var text []byte
	ends := make([]int, k.n)
	for i := range ends {
		text = append(text, objects.Text(k.make(i))...)
		ends[i] = len(text)
	}
	if len(text) == 0 {
		return t, errors.New("there is nothing to measure")
	}
	var err error
	if t.all, err = syscall.Mmap(-1, 0, len(text), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE); err != nil {
		return t, fmt.Errorf("memory for %d %s: %w", k.n, k.title, err)
	}
	copy(t.all, text)
	for i, start := 0, 0; i < k.n; i, start = i+1, ends[i] {
		t.each = append(t.each, t.all[start:ends[i]])
	}
	return t, nil
}

func (t texts) free() { _ = syscall.Munmap(t.all) }
