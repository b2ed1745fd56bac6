package schema

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/json"
)

// Resource is how the API server serves a kind: permissions name resources,
// policies name kinds.
type Resource struct {
	// Name is the plural of the URL, such as pods.
	Name       string `json:"resource"`
	Namespaced bool   `json:"namespaced,omitempty"`
	// Scale says that scale is a subresource of a built-in kind; of a custom kind
	// Structure tells.
	Scale bool `json:"scale,omitempty"`
}

// builtinResources are the resources of the built-in kinds, as a real API
// server serves them; hack/openapi writes the file.
//
//go:embed resources.json
var builtinResources []byte

var builtinTable = Table[Resource]("resources", builtinResources)

// Resource returns the resource of a kind; false when neither a CRD nor the
// built-in kinds tell. The plural is never guessed: a wrong permission would
// show only when it is missed.
func (s *Set) Resource(gvk GVK) (Resource, bool) {
	if s == nil {
		r, ok := builtinTable()[gvk.String()]
		return r, ok
	}
	s.mu.RLock()
	r, ok := s.resources[gvk]
	s.mu.RUnlock()
	if ok {
		return r, true
	}
	return s.next.Resource(gvk)
}

// AddResource makes known how a kind is served.
func (s *Set) AddResource(gvk GVK, r Resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources[gvk] = r
}

// Group returns the API group: "" for the core.
func (g GVK) Group() string {
	group, _, grouped := strings.Cut(g.APIVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

// BuiltinVersions returns the API versions of Kubernetes itself that have a kind, sorted.
func BuiltinVersions(kind string) (versions []string) {
	for name := range builtinTable() {
		if version, ok := strings.CutSuffix(name, "/"+kind); ok {
			versions = append(versions, version)
		}
	}
	slices.Sort(versions)
	return versions
}

// BuiltinKinds returns the kinds of an API version of Kubernetes itself, sorted;
// none for any other.
func BuiltinKinds(apiVersion string) (kinds []string) {
	for name := range builtinTable() {
		if kind, ok := strings.CutPrefix(name, apiVersion+"/"); ok && !strings.Contains(kind, "/") {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// Unserved reports whether no server has a kind: its API version is one of Kubernetes itself
// without it, or only other versions of its group are known to have it.
func (s *Set) Unserved(gvk GVK) bool {
	builtin := BuiltinKinds(gvk.APIVersion)
	if _, known := s.Kind(gvk); known || slices.Contains(builtin, gvk.Kind) {
		return false
	}
	elsewhere := false
	for at := s; at != nil; at = at.next {
		at.mu.RLock()
		for other := range at.kinds {
			elsewhere = elsewhere || other.Kind == gvk.Kind && other.Group() == gvk.Group()
		}
		at.mu.RUnlock()
	}
	return elsewhere || !strings.Contains(gvk.Group(), ".") || len(builtin) > 0
}

// builtinScale is the field that the subresource scale of built-in kinds sets.
const builtinScale = "spec.replicas"

// Scale returns the path of the field that the subresource scale of a kind sets, ""
// for a kind without one. Known is false for a kind of which that is not known.
func (s *Set) Scale(gvk GVK) (path string, known bool) {
	if structure, ok := s.Structure(gvk); ok && structure.Custom {
		return structure.Scale, structure.Scaled
	}
	r, builtin := builtinTable()[gvk.String()]
	if r.Scale {
		path = builtinScale
	}
	return path, builtin
}

// Table reads an embedded table in JSON when it is first used. It panics if that is none.
func Table[T any](of string, text []byte) func() map[string]T {
	return sync.OnceValue(func() (out map[string]T) {
		if err := json.Unmarshal(text, &out); err != nil {
			panic(fmt.Sprintf("the embedded table of %s: %v", of, err))
		}
		return out
	})
}
