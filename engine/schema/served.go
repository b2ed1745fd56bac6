package schema

import "strings"

// servedPath is what is read of a path of an OpenAPI document: the kind that the
// operation get is about, which every path of an object has.
type servedPath struct {
	Get *operation `json:"get"`
}

type operation struct {
	Of struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// served is how an API server serves a kind.
type served struct {
	resource      Resource
	status, scale bool
}

// servedBy returns how kinds are served by paths such as
// /apis/GROUP/VERSION/namespaces/{namespace}/RESOURCE/{name}/status. The kinds of a
// document without paths are not in it. The deprecated paths of watches, which aggregated
// API servers have, are about the same kinds and say nothing of subresources.
func servedBy(paths map[string]servedPath) map[GVK]served {
	out, subresources := map[GVK]served{}, map[string]map[string]bool{}
	kinds := map[string]GVK{} // by the path of an object
	for path, at := range paths {
		object, sub, ok := strings.Cut(path, "/{name}")
		switch {
		case !ok || isWatch(path):
		case sub != "":
			if subresources[object] == nil {
				subresources[object] = map[string]bool{}
			}
			subresources[object][strings.TrimPrefix(sub, "/")] = true
		case at.Get != nil:
			of := at.Get.Of
			kinds[object] = GVK{APIVersion: strings.TrimPrefix(of.Group+"/"+of.Version, "/"), Kind: of.Kind}
		}
	}
	for object, gvk := range kinds {
		out[gvk] = served{
			resource: Resource{Name: object[strings.LastIndex(object, "/")+1:], Namespaced: strings.Contains(object, "/{namespace}/")},
			status:   subresources[object]["status"], scale: subresources[object]["scale"],
		}
	}
	return out
}

// isWatch reports whether a path is one of a watch: /apis/GROUP/VERSION/watch/....
func isWatch(path string) bool {
	parts := strings.SplitN(path, "/", 6)
	return len(parts) == 6 && parts[4] == "watch"
}

// addServed makes known how kinds are served.
func (s *Set) addServed(by map[GVK]served, kinds map[GVK]string) {
	for gvk := range kinds {
		if how, known := by[gvk]; known {
			s.AddResource(gvk, how.resource)
			s.mu.Lock()
			s.withoutStatus[gvk] = !how.status
			s.mu.Unlock()
		}
	}
}
