package release

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manager is the field manager of what a policy writes.
func manager(policy string) string { return "edict/" + policy }

// mine returns the finalizers of an object that are the policy's, in the order
// in which they stand.
func (t *target) mine(o *metav1.PartialObjectMetadata) (out []string) {
	var owned map[string]bool
	if t.owned {
		owned = ownedBy(manager(t.policy), o.ManagedFields)
	}
	for _, name := range o.Finalizers {
		if slices.Contains(t.names, name) || owned[name] && !strings.HasPrefix(name, "kubernetes.io/") && name != metav1.FinalizerOrphanDependents && name != metav1.FinalizerDeleteDependents {
			out = append(out, name)
		}
	}
	return out
}

// ownedBy reads from managed fields which finalizers a manager has set.
func ownedBy(manager string, fields []metav1.ManagedFieldsEntry) map[string]bool {
	out := map[string]bool{}
	for _, f := range fields {
		if f.Manager != manager || f.FieldsV1 == nil {
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
