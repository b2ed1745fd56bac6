package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run"
)

// shadowState is what is known of the policies in Shadow mode.
type shadowState struct {
	reports []reconcile.ShadowReport
	// unreported are the policies about which there is no report yet.
	unreported []string
	// configMaps are those of policies; nil if a controller was asked.
	configMaps []corev1.ConfigMap
}

func (f *shadowFlags) state(ctx context.Context) (*shadowState, error) {
	if f.endpoint.address != "" {
		return f.ask(ctx)
	}
	client, _, err := clusterClient(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().ConfigMaps(f.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPolicy + "=true"})
	if err != nil {
		return nil, err
	}
	s := &shadowState{reports: []reconcile.ShadowReport{}, configMaps: list.Items}
	for i := range list.Items {
		if err := s.add(&list.Items[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ask asks a running controller.
func (f *shadowFlags) ask(ctx context.Context) (*shadowState, error) {
	body, err := f.endpoint.get(ctx, run.ShadowPath)
	if err != nil {
		return nil, err
	}
	s := &shadowState{}
	if err := json.Unmarshal(body, &s.reports); err != nil {
		return nil, fmt.Errorf("%s does not answer as a controller does: %w", f.endpoint.address, err)
	}
	return s, nil
}

// add reads the annotations of a ConfigMap.
func (s *shadowState) add(m *corev1.ConfigMap) error {
	var reports []reconcile.ShadowReport
	if text := m.Annotations[v1alpha1.AnnotationShadow]; text != "" {
		if err := json.Unmarshal([]byte(text), &reports); err != nil {
			return fmt.Errorf("the annotation %s of %s: %w", v1alpha1.AnnotationShadow, m.Name, err)
		}
	}
	// They are written every few seconds, and may be of before an edit of the text or mode.
	running := maps.Collect(v1alpha1.Running(m.Annotations))
	reports = slices.DeleteFunc(reports, func(r reconcile.ShadowReport) bool { return !stillShadow(&r, running) })
	s.reports = append(s.reports, reports...)
	for _, text := range sortedNames(running) {
		id := plan.ParseID(text)
		if id.Shadow && !slices.ContainsFunc(reports, func(r reconcile.ShadowReport) bool { return r.Policy == id.Name }) {
			s.unreported = append(s.unreported, id.Name)
		}
	}
	return nil
}

// stillShadow reports whether the revision of a report runs in Shadow mode.
func stillShadow(r *reconcile.ShadowReport, running map[string]string) bool {
	revision, runs := running[plan.ID{Name: r.Policy, Shadow: true}.String()]
	if _, more := running[v1alpha1.MoreRunning]; !runs && more {
		return true // it may be among them
	}
	return runs && revision == r.Revision
}

// choose keeps the policies that are named, or all.
func (s *shadowState) choose(names []string) error {
	if len(names) == 0 {
		return nil
	}
	known := slices.Clone(s.unreported)
	for i := range s.reports {
		known = append(known, s.reports[i].Policy)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return found("no policy %q is in the shadow%s", name, hinted(s.whyNot(name, known)))
		}
	}
	s.reports = slices.DeleteFunc(s.reports, func(r reconcile.ShadowReport) bool { return !slices.Contains(names, r.Policy) })
	s.unreported = slices.DeleteFunc(s.unreported, func(name string) bool { return !slices.Contains(names, name) })
	return nil
}

// whyNot says why a policy is not in the shadow: the ConfigMaps tell, or else the name is
// probably meant to be one of those known.
func (s *shadowState) whyNot(name string, known []string) string {
	enforced := func(m corev1.ConfigMap) bool {
		_, runs := maps.Collect(v1alpha1.Running(m.Annotations))[name]
		return runs
	}
	if at := slices.IndexFunc(s.configMaps, enforced); at >= 0 {
		return "it is enforced, by the ConfigMap " + s.configMaps[at].Namespace + "/" + s.configMaps[at].Name
	}
	has := func(m corev1.ConfigMap) bool { return slices.Contains(policiesIn(&m), name) }
	if at := slices.IndexFunc(s.configMaps, has); at >= 0 {
		return "it does not run; " + statusOf(&s.configMaps[at])
	}
	return nameHint(name, known)
}

func statusOf(m *corev1.ConfigMap) string {
	status := strings.TrimSpace(m.Annotations[v1alpha1.AnnotationStatus] + " " + m.Annotations[v1alpha1.AnnotationError])
	return fmt.Sprintf("the status of its ConfigMap %s/%s: %s", m.Namespace, m.Name, cmp.Or(status, "none, because no controller has read it yet"))
}
