package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// waitLook is what one look at the ConfigMaps shows.
type waitLook struct {
	// installations are the names of those that there are; none is that this is not known.
	installations []string
	// missing says of each ConfigMap that has not the status, what it has.
	missing []string
	// unread reports that the controller has not read a ConfigMap as it is.
	unread bool
	// failure is what waiting does not mend: a refusal, or a rollout that has stopped.
	failure error
}

// fails reports whether there is a failure of the present contents: while another ConfigMap
// is not read yet, a status may be of before, since a policy and its params are judged
// together.
func (l *waitLook) fails() bool { return l.failure != nil && !l.unread }

// add takes up what a ConfigMap has in place of the status; "" is nothing.
func (l *waitLook) add(m *corev1.ConfigMap, state string) {
	if state != "" {
		l.missing = append(l.missing, fmt.Sprintf("ConfigMap %s/%s: %s", m.Namespace, m.Name, state))
	}
	l.unread = l.unread || state == notRead || state == otherInstallation
}

// fail takes up how a ConfigMap has failed, as "%s is refused".
func (l *waitLook) fail(m *corev1.ConfigMap, how string) {
	l.add(m, itsStatus(m))
	if l.failure == nil {
		l.failure = fmt.Errorf(how+": %s", "ConfigMap "+m.Namespace+"/"+m.Name, m.Annotations[v1alpha1.AnnotationError])
	}
}

// notRead is what is missing of a ConfigMap that has changed since the controller read it.
const notRead = "the controller has not read it as it is now"

// otherInstallation is what is missing of a ConfigMap with the status of a controller that
// was started with other arguments, or is of another version.
const otherInstallation = "its status is that of another installation: the controller that is installed now does not lead yet"

// before reports whether the status of a ConfigMap is that of another installation.
func (l *waitLook) before(m *corev1.ConfigMap) bool {
	return len(l.installations) > 0 && !slices.Contains(l.installations, m.Annotations[v1alpha1.AnnotationInstallation])
}

func itsStatus(m *corev1.ConfigMap) string {
	return strings.TrimSpace("its status is " + m.Annotations[v1alpha1.AnnotationStatus] + " " + m.Annotations[v1alpha1.AnnotationError])
}

// look looks at the ConfigMaps once.
func (f *waitFlags) look(ctx context.Context, api corev1client.ConfigMapInterface) (out waitLook, err error) {
	policies, params, in, err := configmap.ReadAll(ctx, api)
	if err != nil {
		return out, err
	}
	if out.installations, err = configmap.ReadInstallations(ctx, api); err != nil {
		return out, err
	}
	waited := f.lookAtPolicies(policies, in, &out)
	f.lookAtParams(params, in, waited, &out)
	if len(policies) == 0 && len(out.missing) == 0 {
		out.missing = append(out.missing, fmt.Sprintf("no ConfigMap of the namespace %s is labelled %s=true", f.origin.namespace, v1alpha1.LabelPolicy))
	}
	return out, nil
}

// lookAtPolicies looks at the ConfigMaps of policies, and returns the policies that are
// waited for: those that are named, and those that are beside them.
func (f *waitFlags) lookAtPolicies(all []*corev1.ConfigMap, in *source.Catalog, out *waitLook) (waited []string) {
	for _, m := range all {
		policies := policiesIn(m)
		if len(f.names) == 0 || slices.ContainsFunc(policies, func(name string) bool { return slices.Contains(f.names, name) }) {
			waited = append(waited, policies...)
			f.lookAt(m, in, out)
		}
	}
	for _, name := range f.names {
		if !slices.Contains(waited, name) {
			out.missing = append(out.missing, fmt.Sprintf("no ConfigMap labelled %s=true of the namespace %s has a policy %s", v1alpha1.LabelPolicy, f.origin.namespace, name))
		}
	}
	return append(waited, f.names...)
}

// lookAt looks at a ConfigMap of policies.
func (f *waitFlags) lookAt(m *corev1.ConfigMap, in *source.Catalog, out *waitLook) {
	status := m.Annotations[v1alpha1.AnnotationStatus]
	switch {
	case !configmap.Observed(m, in):
		out.add(m, notRead)
	case out.before(m):
		out.add(m, otherInstallation)
	case strings.EqualFold(f.status, "disabled") && f.allOff(m):
	case strings.EqualFold(status, f.status):
		out.add(m, f.off(m))
	case strings.EqualFold(status, "refused"):
		out.fail(m, "%s is refused")
	case strings.EqualFold(status, "rolloutstopped"):
		out.fail(m, "the rollout of %s has stopped")
	default:
		out.add(m, itsStatus(m)+rolloutLines(m))
	}
}

// lookAtParams looks at the ConfigMaps of params: what one no longer has may have been for
// any policy. One that is refused and has values for some of the policies is a failure,
// unless that is waited for.
func (f *waitFlags) lookAtParams(all []*corev1.ConfigMap, in *source.Catalog, policies []string, out *waitLook) {
	for _, m := range all {
		switch {
		case !configmap.Judged(m):
			out.add(m, notRead)
		case out.before(m):
			out.add(m, otherInstallation)
		case len(f.names) > 0 && !slices.ContainsFunc(policies, configmap.Of(m).ReadParams().For):
		case !configmap.Observed(m, in):
			out.add(m, notRead)
		case m.Annotations[v1alpha1.AnnotationStatus] == "Refused" && !strings.EqualFold(f.status, "refused"):
			out.fail(m, "%s is refused")
		}
	}
}

// rolloutLines says how far the rollouts of a ConfigMap have come, each on a line.
func rolloutLines(m *corev1.ConfigMap) (out string) {
	statuses, err := rollout.ParseStatus(m.Annotations[v1alpha1.AnnotationRolloutStatus])
	if err != nil {
		return "\n  " + err.Error()
	}
	for i := range statuses {
		out += "\n  " + statuses[i].String()
	}
	return out
}

// policiesIn returns the names of the policies in a ConfigMap, and of their documents.
func policiesIn(m *corev1.ConfigMap) (out []string) {
	for _, u := range configmap.Of(m).Read().Units {
		out = append(out, u.Name())
		if of := u.Document.Of; of != "" {
			out = append(out, of)
		}
	}
	// What runs is known also while the text cannot be read.
	for name := range v1alpha1.Running(m.Annotations) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
