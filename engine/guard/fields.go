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

// field returns the allowance that a field needs, because of what it is or because a pinned
// policy obeys it. A value that holds an obeyed field replaces that, unless it is inner.
func (g *Guard) field(of patched, path []string, f form) need {
	n := protectedField(of, path, f)
	if names(path) {
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
		if p := of.protection(path[:i+1]); p != nil {
			return need{gvk: of.GVK, field: p.field(), danger: p.danger, why: p.why}
		}
		if privileged(of, path[:i+1], f == removed && i == len(path)-1) {
			return need{gvk: of.GVK, field: strings.Join(path[:i+1], "."), danger: privilege}
		}
	}
	switch field := runs(of.GVK, path); {
	case f == inner:
		return need{}
	case field != nil:
		return need{gvk: of.GVK, field: strings.Join(field, "."), danger: workload}
	case isKey(of, path) && !of.policy.Marks(path[len(path)-1]):
		return need{gvk: of.GVK, field: strings.Join(path, "."), danger: workload, key: path[len(path)-1]}
	case f == removed && holdsPod(path):
		return need{gvk: of.GVK, field: strings.Join(path, "."), danger: workload}
	}
	return need{}
}

// privileged reports whether the last name of a path is that of a field that gives rights, or
// of one that holds such fields and is removed.
func privileged(of patched, path []string, removed bool) bool {
	name := path[len(path)-1]
	return slices.Contains(protectedNames, name) || parentOf(path) == "metadata" && slices.Contains(protectedMetadata, name) || removed && holds(of, path) || readsSecret(path)
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
