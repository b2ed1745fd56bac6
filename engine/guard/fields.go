package guard

import (
	"slices"
	"strings"
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
	// Whether what a mesh adds to a Pod is added.
	"istio-injection", "istio.io/", "sidecar.istio.io/", "linkerd.io/",
	// What controllers of Ingresses and load balancers take as their configuration.
	"nginx.ingress.kubernetes.io/", "traefik.ingress.kubernetes.io/", "alb.ingress.kubernetes.io/", "haproxy.org/", "service.beta.kubernetes.io/",
}

// field returns the allowance that a field needs, because of what it is or because a pinned
// policy obeys it. A value that holds an obeyed field replaces that, unless it is inner.
func (g *Guard) field(of patched, path []string, f form) need {
	n := protectedField(of, path, f)
	if identity(path) {
		return n
	}
	field := strings.Join(path, ".")
	for _, c := range g.Closed {
		if c.covers(of.GVK, field, f) {
			if covered(field, c.Field) && c.Field != Everything {
				field = c.Field
			}
			if n.danger == harmless {
				n = need{gvk: of.GVK, field: field, danger: workload}
			}
			n.obeyed = c.Policy
			break
		}
	}
	return n
}

// protectedField returns the allowance that a field needs, because of itself or of a field
// above it; one without danger if it needs none. Lists have no part in paths.
func protectedField(of patched, path []string, f form) need {
	if f == removed && !of.patch { // null in a manifest removes nothing
		f = leaf
	}
	for i := range path {
		there := inner
		if i == len(path)-1 {
			there = f
		}
		if p := of.protection(path[:i+1]); p != nil {
			return need{gvk: of.GVK, field: p.field(), danger: p.danger, why: p.why}
		}
		switch d := at(of, path[:i+1], there); d {
		case harmless:
		case workload:
			return need{gvk: of.GVK, field: strings.Join(whole(of.GVK, path[:i+1]), "."), danger: d}
		default:
			return need{gvk: of.GVK, field: strings.Join(path[:i+1], "."), danger: d}
		}
	}
	return need{}
}

// at judges the last name of a path.
func at(of patched, path []string, f form) danger {
	name, parent := path[len(path)-1], parentOf(path)
	switch {
	case slices.Contains(protectedNames, name), parent == "metadata" && slices.Contains(protectedMetadata, name):
		return privilege
	case (parent == "labels" || parent == "annotations") && slices.ContainsFunc(protectedKeys, func(p string) bool { return strings.HasPrefix(name, p) }):
		return privilege
	case f == removed && holds(of, path):
		return privilege
	case f == removed && holdsPod(path):
		return workload
	default:
		return inPodTemplate(of.GVK, path, f != inner)
	}
}

// holds reports whether protected fields may be below a field: they go with it. An empty
// value in its place changes none of them.
func holds(of patched, path []string) bool {
	name := path[len(path)-1]
	return name == "metadata" || parentOf(path) == "metadata" && (name == "labels" || name == "annotations") ||
		slices.ContainsFunc(protections, func(p protection) bool { return p.holds(of) && strings.HasPrefix(p.path, strings.Join(path, ".")+".") })
}

func parentOf(path []string) string {
	if len(path) < 2 {
		return ""
	}
	return path[len(path)-2]
}
