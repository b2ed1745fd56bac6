package worlds

import (
	"fmt"
	"strings"
)

// eligible makes an entry of a pool's list of nodes.
func (g *Generator) eligible(name string) Object {
	node := Object{"nodeName": name, "nodeReady": g.chance(90), "unschedulable": g.chance(10), "agentReady": g.chance(90)}
	if zone := pick(g, "a", "b", "c", ""); zone != "" {
		node["zoneName"] = zone
	}
	var groups []any
	for i := range g.r.IntN(5) {
		group := Object{"name": fmt.Sprintf("vg-%d", i), "unschedulable": g.chance(10), "ready": g.chance(90)}
		if g.chance(40) {
			group["thinPoolName"] = pick(g, "thin-a", "thin-b")
		}
		groups = append(groups, group)
	}
	if groups != nil {
		node["lvmVolumeGroups"] = groups
	}
	return node
}

// Volume makes a ReplicatedVolume, mostly one that can be placed.
func (g *Generator) Volume(name string) Object {
	metadata := Object{"name": name}
	if g.chance(20) {
		metadata["annotations"] = Object{"sds-replicated-volume.deckhouse.io/scheduling-reservation-id": "apps/" + name}
	}
	volume := Object{
		"apiVersion": storage, "kind": "ReplicatedVolume", "metadata": metadata,
		"spec": Object{"size": pick(g, "1Gi", "10Gi", "1Ti"), "replicatedStorageClassName": "class"},
	}
	status := Object{}
	if g.chance(90) {
		configuration := Object{
			"topology": pick(g, "Ignored", "Zonal", "TransZonal"), "replication": pick(g, "None", "Availability", "Consistency", "ConsistencyAndAvailability"),
			"volumeAccess": pick(g, "Any", "Local", "PreferablyLocal", "EventuallyLocal"), "storagePoolName": pick(g, "pool-0", "pool-1", "pool-0", "pool-1", "pool-2"),
		}
		if g.chance(10) {
			configuration["failuresToTolerate"] = int64(g.r.IntN(3))
		}
		status["configuration"] = configuration
	}
	if g.chance(30) {
		status["desiredAttachTo"] = []any{g.name("node")}
	}
	if len(status) > 0 {
		volume["status"] = status
	}
	return volume
}

// Replica makes a replica of the volume that its name begins with, in any
// state.
func (g *Generator) Replica(name string) Object {
	volume := name[:strings.LastIndex(name, "-")]
	spec := Object{"replicatedVolumeName": volume, "type": pick(g, "Diskful", "Diskful", "Diskful", "TieBreaker", "Access")}
	metadata := Object{"name": name, "generation": int64(1)}
	if g.chance(30) || spec["type"] == "Access" {
		spec["nodeName"] = pick(g, g.name("node"), g.name("node"), "gone")
		if spec["type"] == "Diskful" && g.chance(60) {
			spec["lvmVolumeGroupName"] = g.name("vg")
			if g.chance(40) {
				spec["lvmVolumeGroupThinPoolName"] = "thin-a"
			}
		}
	}
	if !g.Valid && g.chance(10) {
		metadata["deletionTimestamp"], metadata["finalizers"] = g.ago(), []any{"example.com/keep"}
	}
	replica := Object{"apiVersion": storage, "kind": "ReplicatedVolumeReplica", "metadata": metadata, "spec": spec}
	if g.chance(20) {
		replica["status"] = Object{"conditions": []any{Object{
			"type": "Scheduled", "status": "False", "reason": "SchedulingFailed", "message": "0 candidates", "lastTransitionTime": g.ago(), "observedGeneration": int64(1),
		}}}
	}
	return replica
}
