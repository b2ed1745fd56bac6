package byhand

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// eligible returns the list of the nodes of a pool, by name.
func (e *Eligibility) eligible(pool *StoragePool, selector labels.Selector, groups map[string]*VolumeGroup) []EligibleNode {
	nodes := e.nodes(selector)
	agents, byNode := e.agents(), groupsByNode(pool, groups)
	grace, now := pool.Spec.EligibleNodesPolicy.NotReadyGracePeriod.Duration, e.Now()
	out := make([]EligibleNode, 0, len(nodes))
	for _, n := range nodes {
		ready, listed := nodeReady(n, grace, now)
		if listed {
			out = append(out, EligibleNode{
				NodeName: n.Name, ZoneName: n.Labels[corev1.LabelTopologyZone], NodeReady: ready,
				Unschedulable: n.Spec.Unschedulable, AgentReady: agents[n.Name], VolumeGroups: byNode[n.Name],
			})
		}
	}
	return out
}

// nodes returns the nodes that match a selector, by name.
func (e *Eligibility) nodes(selector labels.Selector) []*corev1.Node {
	var out []*corev1.Node
	for _, raw := range e.Cache.indexers[kindNode].List() {
		if n := raw.(*corev1.Node); selector.Matches(labels.Set(n.Labels)) {
			out = append(out, e.Cache.read(n).(*corev1.Node))
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// nodeReady reports whether a node is ready, and whether it is listed: one that is not
// ready is until its grace period ends.
func nodeReady(n *corev1.Node, grace time.Duration, now time.Time) (ready, listed bool) {
	since := n.CreationTimestamp.Time
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			if c.Status == corev1.ConditionTrue {
				return true, true
			}
			since = c.LastTransitionTime.Time
			break
		}
	}
	return false, now.Before(since.Add(grace))
}

// agents reports on which nodes the agent is ready.
func (e *Eligibility) agents() map[string]bool {
	pods := list[*corev1.Pod](e.Cache, kindPod)
	out := make(map[string]bool, len(pods))
	for _, p := range pods {
		if isAgent(p) && podReady(p) {
			out[p.Spec.NodeName] = true
		}
	}
	return out
}

func isAgent(p *corev1.Pod) bool {
	return p.Namespace == agentNamespace && p.Labels["app"] == "agent" && p.Spec.NodeName != ""
}

func podReady(p *corev1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// groupsByNode returns the volume groups of a pool by node, those of a node by name.
func groupsByNode(pool *StoragePool, groups map[string]*VolumeGroup) map[string][]EligibleVolumeGroup {
	out := map[string][]EligibleVolumeGroup{}
	for _, ref := range pool.Spec.VolumeGroups {
		g := groups[ref.Name]
		if node := g.Spec.Local.NodeName; node != "" {
			out[node] = append(out[node], EligibleVolumeGroup{
				Name: ref.Name, ThinPoolName: ref.ThinPoolName, Unschedulable: unschedulable(g), Ready: groupReady(g, ref, pool.Spec.Type),
			})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b EligibleVolumeGroup) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ThinPoolName, b.ThinPoolName))
		})
	}
	return out
}

func unschedulable(g *VolumeGroup) bool {
	return slices.ContainsFunc(unschedulableAnnotations, func(a string) bool { _, ok := g.Annotations[a]; return ok })
}

func groupReady(g *VolumeGroup, ref VolumeGroupRef, poolType string) bool {
	if conditionStatus(g) != "True" {
		return false
	}
	return poolType != "LVMThin" || slices.Contains(g.Status.ThinPools, ThinPool{Name: ref.ThinPoolName, Ready: true})
}

func conditionStatus(g *VolumeGroup) string {
	for i := range g.Status.Conditions {
		if g.Status.Conditions[i].Type == "Ready" {
			return string(g.Status.Conditions[i].Status)
		}
	}
	return ""
}

func sameNode(a, b EligibleNode) bool {
	return a.NodeName == b.NodeName && a.ZoneName == b.ZoneName && a.NodeReady == b.NodeReady &&
		a.Unschedulable == b.Unschedulable && a.AgentReady == b.AgentReady && slices.Equal(a.VolumeGroups, b.VolumeGroups)
}
