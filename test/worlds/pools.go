package worlds

import (
	"fmt"
)

// Pool makes a storage pool.
func (g *Generator) Pool(name string) Object {
	kind := pick(g, "LVM", "LVMThin")
	spec := Object{"type": kind, "systemNetworkNames": []any{"Internal"}}
	var groups []any
	for range 1 + g.r.IntN(4) {
		ref := Object{"name": g.name("vg")}
		if g.chance(3) {
			ref["name"] = "vg-missing"
		}
		if kind == "LVMThin" && g.chance(97) {
			ref["thinPoolName"] = pick(g, "thin-a", "thin-b")
		}
		groups = append(groups, ref)
	}
	spec["lvmVolumeGroups"] = groups
	if g.chance(50) {
		spec["zones"] = []any{"a", pick(g, "b", "c")}
		if !g.Valid && g.chance(10) {
			spec["zones"] = []any{pick(g, "bad zone!", "")}
		}
	}
	if g.chance(50) {
		spec["nodeLabelSelector"] = g.selector()
	}
	if g.chance(80) || g.Valid {
		spec["eligibleNodesPolicy"] = Object{"notReadyGracePeriod": pick(g, "10m", "0s", "1h")}
	}
	pool := Object{"apiVersion": storage, "kind": "ReplicatedStoragePool", "metadata": Object{"name": name, "generation": int64(1)}, "spec": spec}
	if g.chance(70) {
		pool["status"] = g.poolStatus()
	}
	return pool
}

func (g *Generator) selector() Object {
	switch g.r.IntN(5) {
	case 0:
		return Object{}
	case 1:
		return Object{"matchLabels": Object{"disk": "ssd"}}
	case 2:
		return Object{"matchExpressions": []any{Object{"key": "disk", "operator": pick(g, "Exists", "DoesNotExist")}}}
	case 3:
		return Object{"matchExpressions": []any{Object{"key": "disk", "operator": pick(g, "In", "NotIn"), "values": []any{"ssd", "nvme"}}}}
	default:
		if g.Valid {
			return Object{"matchLabels": Object{"disk": "hdd"}}
		}
		return Object{"matchExpressions": []any{Object{"key": pick(g, "bad key", "disk"), "operator": pick(g, "Gt", "In")}}}
	}
}

func (g *Generator) poolStatus() Object {
	status := Object{"eligibleNodesRevision": int64(g.r.IntN(9))}
	var nodes []any
	for i := range g.r.IntN(g.Names + 3) {
		nodes = append(nodes, g.eligible(fmt.Sprintf("node-%d", i)))
	}
	if nodes != nil {
		status["eligibleNodes"] = nodes
	}
	if g.chance(30) {
		status["phase"], status["reason"] = "Completed", pick(g, "", "old")
	}
	if g.chance(50) {
		status["conditions"] = []any{
			Object{"type": "Audited", "status": "True", "reason": "x", "message": "by somebody else", "lastTransitionTime": g.ago()},
			Object{"type": "Ready", "status": "True", "reason": "Ready", "message": "Eligible nodes calculated successfully: 1 nodes", "lastTransitionTime": g.ago(), "observedGeneration": int64(1)},
		}
	}
	return status
}
