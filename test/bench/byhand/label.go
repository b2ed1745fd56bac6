package byhand

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AgentLabel is the label of the nodes that run the agent.
const AgentLabel = "storage.deckhouse.io/sds-replicated-volume-node"

// The patches of a node: the label is set, or removed.
var (
	labelSet    = []byte(`{"metadata":{"labels":{"` + AgentLabel + `":""}}}`)
	labelRemove = []byte(`{"metadata":{"labels":{"` + AgentLabel + `":null}}}`)
)

// NodeLabel labels the nodes that run the agent.
type NodeLabel struct {
	Cache *Cache
	Send  func(Write)
}

// Reconcile labels one node, or removes its label.
func (l *NodeLabel) Reconcile(_ context.Context, name string) error {
	node, err := get[corev1.Node](l.Cache, kindNode, name)
	if err != nil || node == nil {
		return err
	}
	wanted, err := l.wanted(name)
	if err != nil {
		return err
	}
	value, has := node.Labels[AgentLabel]
	switch {
	case wanted && (!has || value != ""):
		l.Send(Write{Kind: kindNode, Name: name, Body: labelSet})
	case !wanted && has:
		l.Send(Write{Kind: kindNode, Name: name, Body: labelRemove})
	}
	return nil
}

// wanted reports whether a pool lists a node, or a resource is on it. Only the number
// of objects matters, so none is copied.
func (l *NodeLabel) wanted(name string) (bool, error) {
	resources, err := l.Cache.indexers["DRBDResource"].IndexKeys(indexResourceNode, name)
	if err != nil || len(resources) > 0 {
		return true, err
	}
	pools, err := l.Cache.indexers[kindPool].IndexKeys(indexPoolNode, name)
	return len(pools) > 0, err
}

// Wakes implements Controller.
func (l *NodeLabel) Wakes(kind string, old, now client.Object) ([]string, error) {
	switch kind {
	case kindNode:
		if now == nil || old != nil && sameLabel(old, now) {
			return nil, nil
		}
		return []string{now.GetName()}, nil
	case kindPool:
		return joinedOrLeft(old, now), nil
	case "DRBDResource":
		if old != nil && now != nil {
			return nil, nil
		}
		return []string{either(old, now).(*Resource).Spec.NodeName}, nil
	}
	return nil, nil
}

func sameLabel(old, now client.Object) bool {
	was, had := old.GetLabels()[AgentLabel]
	is, has := now.GetLabels()[AgentLabel]
	return had == has && was == is
}

// joinedOrLeft returns the nodes that only one of two states of a pool lists.
func joinedOrLeft(old, now client.Object) []string {
	in := map[string]int{}
	for side, o := range []client.Object{old, now} {
		if pool, ok := o.(*StoragePool); ok && pool != nil {
			for i := range pool.Status.EligibleNodes {
				in[pool.Status.EligibleNodes[i].NodeName] |= 1 << side
			}
		}
	}
	var out []string
	for name, sides := range in {
		if sides != 3 {
			out = append(out, name)
		}
	}
	return out
}
