package objects

import "fmt"

// Node returns a Node as kubelets write it, with all the fields that no policy reads.
func Node(i int, cordoned bool) Object {
	var images []any
	for j := range 20 {
		images = append(images, Object{"names": []any{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", j, i), fmt.Sprintf("registry.example.com/team/image-%d:v1.%d", j, i)}, "sizeBytes": int64(1e8 + j)})
	}
	condition := func(kind, status, reason string) Object {
		return Object{"type": kind, "status": status, "reason": reason, "message": "kubelet reports " + reason,
			"lastHeartbeatTime": timeOf(i + 1), "lastTransitionTime": timeOf(i)}
	}
	return Object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": Object{
			"name": NodeName(i), "uid": fmt.Sprintf("00000000-0000-0000-0000-%012d", i), "resourceVersion": fmt.Sprint(100000 + i),
			"creationTimestamp": "2026-01-01T00:00:00Z",
			"labels": Object{
				"kubernetes.io/hostname": NodeName(i), "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
				"node.kubernetes.io/instance-type": "c5.4xlarge", "topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": zoneOf(i),
			},
			"annotations": Object{"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true", "csi.volume.kubernetes.io/nodeid": `{"driver":"` + NodeName(i) + `"}`},
		},
		"spec": Object{"podCIDR": "10.0.0.0/24", "podCIDRs": []any{"10.0.0.0/24"}, "providerID": "cloud:///" + NodeName(i), "unschedulable": cordoned},
		"status": Object{
			"addresses":   []any{Object{"type": "InternalIP", "address": "10.0.0.1"}, Object{"type": "Hostname", "address": NodeName(i)}},
			"allocatable": Object{"cpu": "15890m", "memory": "63Gi", "pods": "110", "ephemeral-storage": "95Gi"},
			"capacity":    Object{"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"},
			"conditions": []any{
				condition("MemoryPressure", "False", "KubeletHasSufficientMemory"), condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
				condition("PIDPressure", "False", "KubeletHasSufficientPID"), condition("Ready", "True", "KubeletReady"),
			},
			"images": images,
			"nodeInfo": Object{
				"kernelVersion": "6.8.0-1021", "kubeletVersion": "v1.36.3", "osImage": "Debian GNU/Linux 12", "containerRuntimeVersion": "containerd://2.0.0",
				"machineID": fmt.Sprintf("%032d", i), "systemUUID": fmt.Sprintf("%032d", i), "bootID": fmt.Sprintf("%032d", i), "operatingSystem": "linux", "architecture": "amd64", "kubeProxyVersion": "",
			},
		},
	}
}

// timeOf returns a time that few other objects have.
func timeOf(i int) string {
	return fmt.Sprintf("2026-02-%02dT%02d:%02d:%02dZ", 1+i%28, i/28%24, i/672%60, i*7%60)
}

// Heartbeat returns a Node whose kubelet has reported at another time.
func Heartbeat(i int, at string) Object {
	o := Node(i, false)
	for _, c := range o["status"].(Object)["conditions"].([]any) {
		c.(Object)["lastHeartbeatTime"] = at
	}
	return o
}

// Group returns a volume group of a node.
func Group(node, which int) Object {
	condition := func(kind string) Object {
		return Object{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": timeOf(node)}
	}
	return Object{
		"apiVersion": APIVersion, "kind": "LVMVolumeGroup",
		"metadata": Object{"name": GroupName(node, which), "uid": uid("group", 2*node+which), "resourceVersion": "300", "generation": int64(1), "creationTimestamp": since},
		"spec":     Object{"type": "Local", "actualVGNameOnTheNode": "vg", "local": Object{"nodeName": NodeName(node)}},
		"status":   Object{"vgSize": "1Ti", "vgFree": "500Gi", "phase": "Ready", "conditions": []any{condition("VGReady"), condition("Ready")}},
	}
}

// AgentPod returns the Pod of the agent of a node.
func AgentPod(i int) Object {
	return Object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": Object{
			"name": fmt.Sprintf("agent-%05d", i), "namespace": "d8-sds-replicated-volume", "uid": uid("pod", i), "resourceVersion": "400",
			"creationTimestamp": since, "labels": Object{"app": "agent"},
		},
		"spec":   Object{"nodeName": NodeName(i), "containers": []any{Object{"name": "agent", "image": "agent:1"}}},
		"status": Object{"phase": "Running", "conditions": []any{Object{"type": "Ready", "status": "True"}}},
	}
}

// Pool returns a pool of nodes whose list is not calculated yet.
func Pool(nodes int) Object {
	o := EligiblePool("pool", 0, 0, -1, 500)
	o["spec"].(Object)["lvmVolumeGroups"] = references(0, nodes)
	o["status"] = Object{}
	return o
}
