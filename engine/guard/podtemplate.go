package guard

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
)

// containerLists are the fields that hold containers, in pods and in whatever
// embeds them.
var containerLists = []string{"containers", "initContainers", "ephemeralContainers"}

// openInContainers are the fields of a container that need no allowance; all
// others say which code runs, with what it is given.
var openInContainers = []string{"name", "resources", "resizePolicy"}

// openInPods are the fields of a pod's spec that need no allowance, besides
// those of containers.
var openInPods = []string{
	"activeDeadlineSeconds", "affinity", "enableServiceLinks", "hostname", "nodeSelector", "os", "preemptionPolicy", "readinessGates",
	"resources", "restartPolicy", "schedulingGates", "setHostnameAsFQDN", "subdomain", "terminationGracePeriodSeconds", "topologySpreadConstraints",
}

// workloadInPods are those that place a Pod or give it what its namespace has;
// all others give it rights.
var workloadInPods = []string{"nodeName", "tolerations", "volumes", "imagePullSecrets", "dnsConfig", "dnsPolicy", "schedulerName", "resourceClaims"}

// workloadVolumes are the volumes that hold nothing but what the namespace has.
var workloadVolumes = []string{"name", "emptyDir", "configMap", "downwardAPI", "persistentVolumeClaim", "ephemeral"}

// inPodTemplate judges the last name of a path, where it may be that of a pod's
// spec.
func inPodTemplate(gvk schema.GVK, path []string, leaf bool) danger {
	name := path[len(path)-1]
	if slices.Contains(containerLists, name) && leaf {
		return workload
	}
	for i, above := range path[:len(path)-1] {
		if slices.Contains(containerLists, above) {
			return inContainer(path[i+1:], leaf)
		}
	}
	spec, ok := podSpec(gvk, path)
	if !ok {
		return harmless
	}
	return inPod(path[spec:], leaf)
}

// inContainer judges a path within a container.
func inContainer(path []string, leaf bool) danger {
	switch {
	case slices.Contains(openInContainers, path[0]):
		return harmless
	case slices.Contains(path, "secretRef"), path[0] == "volumeDevices":
		return privilege
	case path[0] == "envFrom" && !leaf, path[0] == "env" && !leaf:
		return harmless // until it is known what they refer to
	default:
		return workload
	}
}

// inPod judges a path within a pod's spec.
func inPod(path []string, leaf bool) danger {
	switch name := path[0]; {
	case slices.Contains(openInPods, name), slices.Contains(containerLists, name):
		return harmless
	case name == "volumes":
		return inVolume(path[1:], leaf)
	case slices.Contains(workloadInPods, name):
		return workload
	default:
		return privilege
	}
}

// inVolume judges a path within a volume.
func inVolume(path []string, leaf bool) danger {
	switch {
	case len(path) > 0 && !slices.Contains(workloadVolumes, path[0]):
		return privilege
	case len(path) == 0 && !leaf, len(path) == 1 && path[0] == "name":
		return harmless // until it is known what kind it is
	default:
		return workload
	}
}

// podFields are the fields of a pod's spec that are known as such in a custom
// resource, whose field template may hold something else.
var podFields = append([]string{
	"hostAliases", "hostname", "overhead", "priority", "priorityClassName", "runtimeClassName", "shareProcessNamespace",
}, workloadInPods...)

// podSpec finds where the spec of a Pod begins on the way to a field. A kind
// that embeds a pod template has a field template with a spec.
func podSpec(gvk schema.GVK, path []string) (int, bool) {
	if gvk.Group() == "" && gvk.Kind == "Pod" {
		return 1, len(path) > 1 && path[0] == "spec"
	}
	for i := range path[:max(0, len(path)-2)] {
		if path[i] == "template" && path[i+1] == "spec" {
			_, builtin := openKinds[gvk.Group()]
			return i + 2, builtin || slices.Contains(podFields, path[i+2])
		}
	}
	return 0, false
}

// holdsPod reports whether a field is a template, or the spec in one: what a Pod runs goes
// with it.
func holdsPod(path []string) bool {
	name := path[len(path)-1]
	return name == "template" || name == "spec" && parentOf(path) == "template"
}

// whole cuts a path that says what a Pod runs down to the field of the
// container or of the pod's spec: an allowance opens it as a whole.
func whole(gvk schema.GVK, path []string) []string {
	for i, name := range path {
		if slices.Contains(containerLists, name) {
			return path[:min(len(path), i+2)]
		}
	}
	if spec, ok := podSpec(gvk, path); ok {
		return path[:spec+1]
	}
	return path
}
