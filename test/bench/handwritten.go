package main

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// This file is the same computation as policies/storage-pool-eligibility.yaml,
// written by hand the way a controller would: typed objects from caches, maps,
// loops and a sort. It copies no objects, so it is at its best.

type volumeGroup struct {
	name, node  string
	annotations map[string]string
	ready       bool
	thinPools   map[string]bool // by name: ready
}

type reference struct{ name, thinPool string }

type storagePool struct {
	thin     bool
	refs     []reference
	zones    []string
	selector *metav1.LabelSelector
	grace    time.Duration
	eligible []eligibleNode
}

type eligibleNode struct {
	nodeName, zoneName                   string
	nodeReady, unschedulable, agentReady bool
	groups                               []eligibleGroup
}

type eligibleGroup struct {
	name, thinPool       string
	unschedulable, ready bool
}

// caches are what informers would hold.
type caches struct {
	nodes  []*corev1.Node
	groups []*volumeGroup
	agents []*corev1.Pod
}

// eligibility computes a pool's list and reports whether it differs from the
// stored one.
func eligibility(p *storagePool, c *caches, now time.Time) (list []eligibleNode, changed bool, next time.Time) {
	groups := map[string]*volumeGroup{}
	wanted := map[string]bool{}
	for _, r := range p.refs {
		wanted[r.name] = true
	}
	for _, g := range c.groups {
		if wanted[g.name] {
			groups[g.name] = g
		}
	}
	for _, r := range p.refs {
		if groups[r.name] == nil {
			return nil, false, next
		}
	}
	selector := labels.Everything()
	if p.selector != nil {
		selector, _ = metav1.LabelSelectorAsSelector(p.selector) // validated before
	}
	if len(p.zones) > 0 {
		in, _ := labels.NewRequirement(corev1.LabelTopologyZone, selection.In, p.zones) // validated before
		selector = selector.Add(*in)
	}
	var nodes []*corev1.Node
	for _, n := range c.nodes {
		if selector.Matches(labels.Set(n.Labels)) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	agents := agentReadiness(c.agents)
	byNode := groupsByNode(p, groups)
	for _, n := range nodes {
		ready, deadline, listed := nodeReadiness(n, p.grace, now)
		if !listed {
			continue
		}
		if !deadline.IsZero() && (next.IsZero() || deadline.Before(next)) {
			next = deadline
		}
		list = append(list, eligibleNode{
			nodeName: n.Name, zoneName: n.Labels[corev1.LabelTopologyZone], nodeReady: ready,
			unschedulable: n.Spec.Unschedulable, agentReady: agents[n.Name], groups: byNode[n.Name],
		})
	}
	return list, !slices.EqualFunc(list, p.eligible, sameNode), next
}

func sameNode(a, b eligibleNode) bool {
	return a.nodeName == b.nodeName && a.zoneName == b.zoneName && a.nodeReady == b.nodeReady &&
		a.unschedulable == b.unschedulable && a.agentReady == b.agentReady && slices.Equal(a.groups, b.groups)
}

func agentReadiness(pods []*corev1.Pod) map[string]bool {
	out := map[string]bool{}
	for _, p := range pods {
		if p.Spec.NodeName == "" {
			continue
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady {
				out[p.Spec.NodeName] = out[p.Spec.NodeName] || c.Status == corev1.ConditionTrue
				break
			}
		}
	}
	return out
}

func groupsByNode(p *storagePool, groups map[string]*volumeGroup) map[string][]eligibleGroup {
	out := map[string][]eligibleGroup{}
	for _, r := range p.refs {
		g := groups[r.name]
		if g.node == "" {
			continue
		}
		_, one := g.annotations["storage.deckhouse.io/lvmVolumeGroupUnschedulable"]
		_, other := g.annotations["sds-replicated-volume.deckhouse.io/unschedulable"]
		out[g.node] = append(out[g.node], eligibleGroup{
			name: r.name, thinPool: r.thinPool, unschedulable: one || other,
			ready: g.ready && (!p.thin || g.thinPools[r.thinPool]),
		})
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b eligibleGroup) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.thinPool, b.thinPool))
		})
	}
	return out
}

func nodeReadiness(n *corev1.Node, grace time.Duration, now time.Time) (ready bool, deadline time.Time, listed bool) {
	since := n.CreationTimestamp.Time
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			if c.Status == corev1.ConditionTrue {
				return true, time.Time{}, true
			}
			since = c.LastTransitionTime.Time
			break
		}
	}
	deadline = since.Add(grace)
	if !now.Before(deadline) {
		return false, time.Time{}, false
	}
	return false, deadline, true
}
