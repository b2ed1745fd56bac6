package release

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mine returns the finalizers of an object that are the target's, in the order
// in which they stand.
func (t *target) mine(o *metav1.PartialObjectMetadata) (out []string) {
	var owned map[string]bool
	if slices.Contains(t.names, Owned) {
		owned = ownedBy(t.owner, o.ManagedFields)
	}
	for _, name := range o.Finalizers {
		if slices.Contains(t.names, name) || owned[name] && !builtin(name) {
			out = append(out, name)
		}
	}
	return out
}

// builtin reports whether the API server may have set a finalizer itself, while it
// stored an object: the sender of the object is then its owner.
func builtin(name string) bool {
	return strings.HasPrefix(name, "kubernetes.io/") || name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents
}

// ownedBy reads from managed fields which finalizers some managers have set.
func ownedBy(owner func(manager string) bool, fields []metav1.ManagedFieldsEntry) map[string]bool {
	out := map[string]bool{}
	for _, f := range fields {
		if !owner(f.Manager) || f.FieldsV1 == nil {
			continue
		}
		var owned struct {
			Metadata struct {
				Finalizers map[string]any `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if err := json.Unmarshal(f.FieldsV1.GetRawBytes(), &owned); err != nil {
			continue // then the server would not have stored them
		}
		for key := range owned.Metadata.Finalizers {
			var name string
			if text, ok := strings.CutPrefix(key, "v:"); ok && json.Unmarshal([]byte(text), &name) == nil {
				out[name] = true
			}
		}
	}
	return out
}
