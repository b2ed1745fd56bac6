package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// off is what a ConfigMap that is active has in place of it for policies that are named:
// the status leaves those out that are disabled. "" is nothing.
func (f *waitFlags) off(m *corev1.ConfigMap) string {
	for _, u := range f.named(m) {
		if u.Disabled() && !strings.EqualFold(f.status, "disabled") {
			return fmt.Sprintf("the policy %s is disabled, by its mode or by the annotation %s", u.Name(), v1alpha1.AnnotationMode)
		}
	}
	return ""
}

// allOff reports whether the policies of a ConfigMap that are named are disabled and no
// longer run, which is not its status while others do.
func (f *waitFlags) allOff(m *corev1.ConfigMap) bool {
	running := maps.Collect(v1alpha1.Running(m.Annotations))
	named := f.named(m)
	return len(named) > 0 && !slices.ContainsFunc(named, func(u *source.Unit) bool {
		_, runs := running[u.Name()]
		return runs || !u.Disabled()
	})
}

// named returns the policies in a ConfigMap that are waited for by name.
func (f *waitFlags) named(m *corev1.ConfigMap) (out []*source.Unit) {
	for _, u := range configmap.Of(m).Read().Units {
		if slices.Contains(f.names, u.Name()) || slices.Contains(f.names, u.Document.Of) {
			out = append(out, u)
		}
	}
	return out
}
