package objects

import "fmt"

// Volume returns a volume that is to be placed in a pool.
func Volume(i int, topology, pool, attachTo string) Object {
	return Object{
		"apiVersion": APIVersion, "kind": "ReplicatedVolume",
		"metadata": Object{
			"name": VolumeName(i), "uid": uid("volume", i), "resourceVersion": "100", "generation": int64(1), "creationTimestamp": since,
		},
		"spec": Object{"size": "10Gi", "replicatedStorageClassName": "replicated"},
		"status": Object{
			"configuration": Object{
				"topology": topology, "replication": "ConsistencyAndAvailability", "volumeAccess": "PreferablyLocal", "storagePoolName": pool,
			},
			"configurationGeneration": int64(1),
			"desiredAttachTo":         []any{attachTo},
		},
	}
}

// Replicas is how many Diskful replicas a volume has.
const Replicas = 3

// Replica returns a replica without a place.
func Replica(volume, r int) Object {
	return Object{
		"apiVersion": APIVersion, "kind": "ReplicatedVolumeReplica",
		"metadata": Object{
			"name": fmt.Sprintf("%s-%d", VolumeName(volume), r), "uid": uid("replica", 10*volume+r), "resourceVersion": "200", "generation": int64(1),
			"creationTimestamp": since,
		},
		"spec": Object{"replicatedVolumeName": VolumeName(volume), "type": "Diskful"},
	}
}

// Placed returns a replica with a place.
func Placed(volume, r, node int) Object {
	o := Replica(volume, r)
	spec := o["spec"].(Object)
	spec["nodeName"], spec["lvmVolumeGroupName"] = NodeName(node), GroupName(node, 0)
	o["status"] = Object{"conditions": []any{Object{
		"type": "Scheduled", "status": "True", "reason": "Scheduled", "message": "Replica scheduled successfully",
		"observedGeneration": int64(1), "lastTransitionTime": since,
	}}}
	return o
}

// EligiblePool returns a pool with the list of its nodes, all of them ready. The node
// cordoned is unschedulable, if there is one of that number.
func EligiblePool(name string, first, nodes, cordoned, version int) Object {
	list := make([]any, nodes)
	for i := range list {
		list[i] = eligibleNode(first+i, i == cordoned)
	}
	return Object{
		"apiVersion": APIVersion, "kind": "ReplicatedStoragePool",
		"metadata": Object{
			"name": name, "uid": uid("pool", first), "resourceVersion": fmt.Sprint(version), "generation": int64(1), "creationTimestamp": since,
		},
		"spec": Object{
			"type": "LVM", "eligibleNodesPolicy": Object{"notReadyGracePeriod": "10m0s"}, "systemNetworkNames": []any{"Internal"},
			"lvmVolumeGroups": references(first, nodes),
		},
		"status": Object{
			"eligibleNodes": list, "eligibleNodesRevision": int64(version), "conditions": []any{readyCondition(nodes)},
		},
	}
}

func eligibleNode(i int, cordoned bool) Object {
	return Object{
		"nodeName": NodeName(i), "zoneName": zoneOf(i), "unschedulable": cordoned, "nodeReady": true, "agentReady": true,
		"lvmVolumeGroups": []any{
			Object{"name": GroupName(i, 0), "unschedulable": false, "ready": true},
			Object{"name": GroupName(i, 1), "unschedulable": false, "ready": true},
		},
	}
}

func readyCondition(nodes int) Object {
	return Object{
		"type": "Ready", "status": "True", "reason": "Ready", "message": fmt.Sprintf("Eligible nodes calculated successfully: %d nodes", nodes),
		"observedGeneration": int64(1), "lastTransitionTime": since,
	}
}

func references(first, nodes int) []any {
	var out []any
	for i := range nodes {
		out = append(out, Object{"name": GroupName(first+i, 0)}, Object{"name": GroupName(first+i, 1)})
	}
	return out
}
