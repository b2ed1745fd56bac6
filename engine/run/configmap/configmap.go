// Package configmap reads policies and params from ConfigMaps: once, or as a watch
// shows them. It writes nothing.
package configmap

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/source"
)

// Of returns what is read of a ConfigMap.
func Of(m *corev1.ConfigMap) *source.ConfigMap {
	return &source.ConfigMap{
		Namespace: m.Namespace, Name: m.Name, UID: string(m.UID), Created: m.CreationTimestamp.Time, Data: m.Data,
		Mode: m.Annotations[v1alpha1.AnnotationMode], Rollout: m.Annotations[v1alpha1.AnnotationRollout], Binary: slices.Sorted(maps.Keys(m.BinaryData)), Edits: editsOf(m),
	}
}

// editsOf returns which field manager last wrote each key of a ConfigMap.
func editsOf(m *corev1.ConfigMap) map[string]source.Edit {
	out := map[string]source.Edit{}
	for _, f := range m.ManagedFields {
		var owned struct {
			Data map[string]json.RawMessage `json:"f:data"`
		}
		if f.FieldsV1 == nil || f.Time == nil || json.Unmarshal(f.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		for field := range owned.Data {
			key := strings.TrimPrefix(field, "f:")
			if e, known := out[key]; !known || f.Time.After(e.At) {
				out[key] = source.Edit{Manager: f.Manager, At: f.Time.Time}
			}
		}
	}
	return out
}

// Judged reports whether the controller has read a ConfigMap as it is now.
func Judged(m *corev1.ConfigMap) bool {
	return m.Annotations[v1alpha1.AnnotationRevision] == Of(m).Revision()
}

// Observed reports whether the status of a ConfigMap is that of all that it takes into
// account, as the catalog has it.
func Observed(m *corev1.ConfigMap, in *source.Catalog) bool {
	return Judged(m) && m.Annotations[v1alpha1.AnnotationObserved] == present(m, in)
}

// present is what Observed is to be.
func present(m *corev1.ConfigMap, in *source.Catalog) string {
	at := func(c *source.ConfigMap) bool { return c.Namespace == m.Namespace && c.Name == m.Name }
	if i := slices.IndexFunc(in.Contents, func(c *source.Contents) bool { return at(c.ConfigMap) }); i >= 0 {
		return in.Observed(in.Contents[i])
	}
	if i := slices.IndexFunc(in.Values, func(v *source.Values) bool { return at(v.ConfigMap) }); i >= 0 {
		return in.ObservedParams(in.Values[i])
	}
	return ""
}

// Labelled reports whether a ConfigMap has policies or params.
func Labelled(m *corev1.ConfigMap) bool {
	return m.Labels[v1alpha1.LabelPolicy] == "true" || m.Labels[v1alpha1.LabelParams] == "true"
}

// LabelProblem returns what is wrong with the labels of a ConfigMap that is not read.
func LabelProblem(m *corev1.ConfigMap) string {
	for _, label := range []string{v1alpha1.LabelPolicy, v1alpha1.LabelParams} {
		if text, has := m.Labels[label]; has && text != "true" {
			return fmt.Sprintf("its label %s is %q, and only \"true\" counts", label, text)
		}
	}
	return fmt.Sprintf("it has no label %s=true", v1alpha1.LabelPolicy)
}
