package guard

import (
	"slices"
	"strings"
)

// protection is a field of an open kind that needs an allowance, with all that is below it.
type protection struct {
	group, kind, path string
	danger            danger
	// theirs limits the protection to objects that the policy did not make.
	theirs bool
	// why is the risk of a write.
	why string
}

// The risks of writing fields.
const (
	identifies = "it says which machine or address this is, which others rely on"
	traffic    = "it decides where traffic goes"
	stops      = "it stops what runs, or keeps it from running"
	crosses    = "it reaches into another namespace"
	admission  = "it decides what may be made"
	devices    = "it decides who uses a device"
)

// protections are the fields of open kinds that need an allowance, apart from metadata and
// the specs of Pods.
var protections = []protection{
	{"", "Node", "spec.providerID", privilege, false, identifies},
	{"", "Node", "spec.podCIDR", privilege, false, identifies},
	{"", "Node", "spec.podCIDRs", privilege, false, identifies},
	{"", "Node", "spec.configSource", privilege, false, identifies},
	{"", "Node", "status.addresses", privilege, false, identifies},
	{"", "Node", "status.daemonEndpoints", privilege, false, identifies},
	{"", "Node", "spec.taints", workload, false, stops},
	{"", "Node", "spec.unschedulable", workload, false, stops},
	{"", "Node", "status.capacity", workload, false, stops},
	{"", "Node", "status.allocatable", workload, false, stops},
	{"", "Node", "status.nodeInfo", workload, false, identifies},
	{"", "Node", "status.images", workload, false, identifies},
	{"", "Node", "status.features", workload, false, identifies},
	{"", "Node", "status.runtimeHandlers", workload, false, identifies},
	{"", "Node", "status.volumesAttached", workload, false, stops},
	{"", "Node", "status.volumesInUse", workload, false, stops},
	{"", "Pod", "status.podIP", privilege, false, traffic},
	{"", "Pod", "status.podIPs", privilege, false, traffic},
	{"", "Pod", "status.hostIP", privilege, false, traffic},
	{"", "Pod", "status.hostIPs", privilege, false, traffic},
	{"", "Service", "spec.externalIPs", privilege, false, traffic},
	{"", "Service", "spec.externalName", privilege, false, traffic},
	{"", "Service", "status.loadBalancer", privilege, false, traffic},
	{"", "Service", "spec.selector", workload, true, traffic},
	{"", "Service", "spec.type", workload, true, traffic},
	{"", "Service", "spec.clusterIP", workload, true, traffic},
	{"", "Service", "spec.clusterIPs", workload, true, traffic},
	{"", "Service", "spec.loadBalancerIP", workload, true, traffic},
	{"", "Service", "spec.loadBalancerSourceRanges", workload, true, traffic},
	{"", "PersistentVolumeClaim", "spec.volumeName", privilege, false, crosses},
	{"", "PersistentVolumeClaim", "spec.dataSourceRef.namespace", privilege, false, crosses},
	{"", "LimitRange", "spec", workload, false, admission},
	{"", "ResourceQuota", "spec", workload, false, admission},
	{"", "ReplicationController", "spec.replicas", workload, true, stops},
	{"", "ReplicationController", "spec.selector", workload, true, stops},
	{"apps", "Deployment", "spec.replicas", workload, true, stops},
	{"apps", "Deployment", "spec.paused", workload, true, stops},
	{"apps", "Deployment", "spec.strategy", workload, true, stops},
	{"apps", "Deployment", "spec.minReadySeconds", workload, true, stops},
	{"apps", "Deployment", "spec.progressDeadlineSeconds", workload, true, stops},
	{"apps", "DaemonSet", "spec.updateStrategy", workload, true, stops},
	{"apps", "DaemonSet", "spec.minReadySeconds", workload, true, stops},
	{"apps", "StatefulSet", "spec.updateStrategy", workload, true, stops},
	{"apps", "StatefulSet", "spec.minReadySeconds", workload, true, stops},
	{"apps", "ReplicaSet", "spec.minReadySeconds", workload, true, stops},
	{"", "ReplicationController", "spec.minReadySeconds", workload, true, stops},
	{"apps", "ReplicaSet", "spec.replicas", workload, true, stops},
	{"apps", "StatefulSet", "spec.replicas", workload, true, stops},
	{"apps", "StatefulSet", "spec.ordinals", workload, true, stops},
	{"autoscaling", "HorizontalPodAutoscaler", "spec", workload, false, stops},
	{"batch", "CronJob", "spec.suspend", workload, true, stops},
	{"batch", "CronJob", "spec.schedule", workload, true, stops},
	{"batch", "CronJob", "spec.jobTemplate.spec.suspend", workload, true, stops},
	{"batch", "CronJob", "spec.jobTemplate.spec.parallelism", workload, true, stops},
	{"batch", "Job", "spec.suspend", workload, true, stops},
	{"batch", "Job", "spec.parallelism", workload, true, stops},
	{"batch", "Job", "spec.activeDeadlineSeconds", workload, true, stops},
	{"batch", "Job", "spec.ttlSecondsAfterFinished", workload, true, stops},
	{"networking.k8s.io", "Ingress", "spec", workload, false, traffic},
	{"networking.k8s.io", "Ingress", "status.loadBalancer", privilege, false, traffic},
	{"networking.k8s.io", "NetworkPolicy", "spec", workload, false, traffic},
	{"policy", "PodDisruptionBudget", "spec", workload, false, stops},
	// The fields have moved between versions of the API.
	{"resource.k8s.io", "ResourceClaim", "spec.devices.requests.adminAccess", privilege, false, devices},
	{"resource.k8s.io", "ResourceClaim", "spec.devices.requests.exactly.adminAccess", privilege, false, devices},
	{"resource.k8s.io", "ResourceClaim", "status.allocation", privilege, false, devices},
	{"resource.k8s.io", "ResourceClaim", "status.reservedFor", privilege, false, devices},
	{"resource.k8s.io", "ResourceClaimTemplate", "spec.spec.devices.requests.adminAccess", privilege, false, devices},
	{"resource.k8s.io", "ResourceClaimTemplate", "spec.spec.devices.requests.exactly.adminAccess", privilege, false, devices},
}

// field returns that of the allowance. How many Pods run is opened like scaling.
func (p *protection) field() string {
	if p.path == "spec.replicas" {
		return Scaling
	}
	return p.path
}

// holds reports whether it is about a kind that is written so.
func (p *protection) holds(of patched) bool {
	return p.kind == of.Kind && p.group == of.Group() && (of.theirs || !p.theirs)
}

// protection returns that of a field; nil if there is none.
func (of patched) protection(path []string) *protection {
	at := slices.IndexFunc(protections, func(p protection) bool { return p.holds(of) && p.path == strings.Join(path, ".") })
	if at < 0 {
		return nil
	}
	return &protections[at]
}
