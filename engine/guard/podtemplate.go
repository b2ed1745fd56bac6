package guard

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
)

// containerLists are the fields that hold containers, in pods and in whatever
// embeds them.
var containerLists = []string{"containers", "initContainers", "ephemeralContainers"}

// inPod returns the part of a path that is within a Pod: of a Pod itself all of it, of any
// other kind what is below the metadata and the spec of a field template. It is nil for a
// path outside of Pods.
func inPod(gvk schema.GVK, path []string) []string {
	if gvk.Group() == "" && gvk.Kind == "Pod" {
		return path
	}
	for i := range path[:max(0, len(path)-1)] {
		if below := path[i+1:]; path[i] == "template" && (below[0] == "metadata" || below[0] == "spec") {
			return below
		}
	}
	return nil
}

// runs returns the field of a container, or of the spec of a Pod, that a path is or is below;
// nil for another path. An allowance opens such a field as a whole. The names of containers
// and volumes only say which entries of their lists are written.
func runs(gvk schema.GVK, path []string) []string {
	for i, name := range path {
		if slices.Contains(containerLists, name) {
			return named(path, i+1)
		}
	}
	pod := inPod(gvk, path)
	if len(pod) < 2 || pod[0] != "spec" {
		return nil
	}
	field := len(path) - len(pod) + 1
	if pod[1] == "volumes" {
		return named(path, field+1)
	}
	return path[:field+1]
}

// readsSecret reports whether the last name of a path gives a container, or a volume of a Pod,
// what a Secret holds.
func readsSecret(path []string) bool {
	name := path[len(path)-1]
	inContainer := slices.ContainsFunc(path, func(above string) bool { return slices.Contains(containerLists, above) })
	return inContainer && name == "secretRef" || parentOf(path) == "volumes" && (name == "secret" || name == "projected")
}

// named returns a path up to the field of a list's entries, which stands at an index; nil if
// that is the name.
func named(path []string, at int) []string {
	if at < len(path) && path[at] == "name" {
		return nil
	}
	return path[:min(len(path), at+1)]
}

// holdsPod reports whether a field is a template, or the spec in one: what a Pod runs goes
// with it.
func holdsPod(path []string) bool {
	name := path[len(path)-1]
	return name == "template" || name == "spec" && parentOf(path) == "template"
}

// isKey reports whether a path is that of a label or an annotation which needs an allowance:
// one of a Node, a Namespace, a Pod or the template of Pods, whose keys direct what others
// do. So do the annotations of an Ingress, and of a Service that the policy did not make.
func isKey(of patched, path []string) bool {
	key, kind := inPod(of.GVK, path), of.Kind
	switch of.Group() {
	case "":
		if kind == "Node" || kind == "Namespace" || kind == "Service" && of.theirs && parentOf(path) == "annotations" {
			key = path
		}
	case "networking.k8s.io":
		if kind == "Ingress" && parentOf(path) == "annotations" {
			key = path
		}
	}
	return len(key) == 3 && key[0] == "metadata" && (key[1] == "labels" || key[1] == "annotations")
}
