package guard

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
)

// danger is what a protected field puts at risk.
type danger int

const (
	// harmless needs no allowance.
	harmless danger = iota
	// workload says which code a Pod runs and where. Whether a policy may do so
	// only an installation can say, so that simulations and tests assume it.
	workload
	// privilege returns rights beyond the object, or decides what becomes of it.
	privilege
)

// protectedMetadata are fields of metadata, wherever metadata stands.
var protectedMetadata = []string{"finalizers", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"}

// protectedNames are fields that give rights wherever they stand: they are
// those of a pod template, and kinds that embed one keep the names.
var protectedNames = []string{
	"serviceAccountName", "serviceAccount", "securityContext", "automountServiceAccountToken",
	"hostNetwork", "hostPID", "hostIPC", "hostUsers", "hostPath", "secretKeyRef",
}

// protectedKeys are prefixes of labels and annotations that grant something, or exempt
// from a check.
var protectedKeys = []string{
	"pod-security.kubernetes.io/", "container.apparmor.security.beta.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/",
	"node-role.kubernetes.io/", "node-restriction.kubernetes.io/", "rbac.authorization.kubernetes.io/",
	// The devices that others use, for ResourceClaims of a Namespace.
	"resource.kubernetes.io/admin-access",
	// To which nodes the Pods of a Namespace are confined.
	"scheduler.alpha.kubernetes.io/",
	"admission.gatekeeper.sh/", "openshift.io/sa.scc.", "security.openshift.io/",
}

// protectedPaths are fields of single kinds, by group.
var protectedPaths = map[string]map[string][]string{
	"": {
		"Node":                  {"spec.providerID", "spec.podCIDR", "spec.podCIDRs", "spec.configSource", "status.addresses", "status.daemonEndpoints"},
		"Pod":                   {"status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs"}, // where a Service's traffic goes
		"Service":               {"spec.externalIPs", "spec.externalName", "status.loadBalancer"},
		"PersistentVolumeClaim": {"spec.volumeName"},
	},
	"resource.k8s.io": { // the field has moved between versions of the API
		"ResourceClaim": {
			"spec.devices.requests.adminAccess", "spec.devices.requests.exactly.adminAccess", "status.allocation",
		},
		"ResourceClaimTemplate": {"spec.spec.devices.requests.adminAccess", "spec.spec.devices.requests.exactly.adminAccess"},
	},
}

// protectedField finds what is protected on the way to a field: the path down
// to it, and what it puts at risk. Lists have no part in paths.
func protectedField(gvk schema.GVK, path []string, f form) (field string, d danger) {
	for i := range path {
		there := inner
		if i == len(path)-1 {
			there = f
		}
		switch d := at(gvk, path[:i+1], there); d {
		case harmless:
		case workload:
			return strings.Join(whole(gvk, path[:i+1]), "."), d
		default:
			return strings.Join(path[:i+1], "."), d
		}
	}
	return "", harmless
}

// at judges the last name of a path.
func at(gvk schema.GVK, path []string, f form) danger {
	name, parent := path[len(path)-1], parentOf(path)
	switch {
	case slices.Contains(protectedNames, name), parent == "metadata" && slices.Contains(protectedMetadata, name), ofKind(gvk, path):
		return privilege
	case (parent == "labels" || parent == "annotations") && slices.ContainsFunc(protectedKeys, func(p string) bool { return strings.HasPrefix(name, p) }):
		return privilege
	case f == removed && holds(gvk, path):
		return privilege
	case f == removed && holdsPod(path):
		return workload
	default:
		return inPodTemplate(gvk, path, f != inner)
	}
}

// holds reports whether protected fields may be below a field: they go with it. An empty
// value in its place changes none of them.
func holds(gvk schema.GVK, path []string) bool {
	name := path[len(path)-1]
	return name == "metadata" || parentOf(path) == "metadata" && (name == "labels" || name == "annotations") ||
		slices.ContainsFunc(pathsOf(gvk), func(p string) bool { return strings.HasPrefix(p, strings.Join(path, ".")+".") })
}

func parentOf(path []string) string {
	if len(path) < 2 {
		return ""
	}
	return path[len(path)-2]
}

func ofKind(gvk schema.GVK, path []string) bool {
	paths := pathsOf(gvk)
	return len(paths) > 0 && slices.Contains(paths, strings.Join(path, "."))
}

// pathsOf returns the protected fields of a kind.
func pathsOf(gvk schema.GVK) []string { return protectedPaths[gvk.Group()][gvk.Kind] }
