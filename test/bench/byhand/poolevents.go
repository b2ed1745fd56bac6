package byhand

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Wakes implements Controller.
func (e *Eligibility) Wakes(kind string, old, now client.Object) ([]string, error) {
	switch kind {
	case kindPool:
		if old != nil && now != nil && old.GetGeneration() == now.GetGeneration() {
			return nil, nil
		}
		return []string{either(old, now).GetName()}, nil
	case kindNode:
		if old != nil && now != nil && sameForPools(old.(*corev1.Node), now.(*corev1.Node)) {
			return nil, nil
		}
		return e.poolsOf(either(old, now).(*corev1.Node))
	case kindGroup:
		if old != nil && now != nil && sameGroup(old.(*VolumeGroup), now.(*VolumeGroup)) {
			return nil, nil
		}
		return e.Cache.names(kindPool, indexPoolGroup, either(old, now).GetName())
	case kindPod:
		return e.wakePod(old, now)
	}
	return nil, nil
}

func (e *Eligibility) wakePod(old, now client.Object) ([]string, error) {
	pod := either(old, now).(*corev1.Pod)
	if !isAgent(pod) || old != nil && now != nil && podReady(old.(*corev1.Pod)) == podReady(pod) {
		return nil, nil
	}
	return e.Cache.names(kindPool, indexPoolNode, pod.Spec.NodeName)
}

// poolsOf returns the pools that list a node, or ask for it.
func (e *Eligibility) poolsOf(n *corev1.Node) ([]string, error) {
	out, err := e.Cache.names(kindPool, indexPoolNode, n.Name)
	if err != nil {
		return nil, err
	}
	for _, raw := range e.Cache.indexers[kindPool].List() {
		p := raw.(*StoragePool)
		selector, err := nodeSelector(p)
		if (err != nil || selector.Matches(labels.Set(n.Labels))) && !slices.Contains(out, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out, nil
}

// sameForPools reports whether a change of a node concerns no pool.
func sameForPools(old, now *corev1.Node) bool {
	return old.Spec.Unschedulable == now.Spec.Unschedulable && nodeStatus(old) == nodeStatus(now) && maps.Equal(old.Labels, now.Labels)
}

func nodeStatus(n *corev1.Node) corev1.ConditionStatus {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == corev1.NodeReady {
			return n.Status.Conditions[i].Status
		}
	}
	return ""
}

func sameGroup(old, now *VolumeGroup) bool {
	return old.Generation == now.Generation && unschedulable(old) == unschedulable(now) &&
		conditionStatus(old) == conditionStatus(now) && slices.Equal(old.Status.ThinPools, now.Status.ThinPools)
}
