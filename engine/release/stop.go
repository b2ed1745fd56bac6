package release

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
)

// Stopper stops policies by the annotation that the controller follows.
type Stopper struct {
	ConfigMaps corev1.ConfigMapInterface
	// Timeout is how long the controller may take to say that it has stopped
	// them, Poll how often it is looked for.
	Timeout, Poll time.Duration
}

// Stop disables policies, which are given by their ConfigMaps, and waits until
// the controller no longer runs any of them. It gives those that it still did at
// the end of the timeout, which is one for all.
func (s *Stopper) Stop(ctx context.Context, policies map[string][]string) (running []string, err error) {
	names := slices.Sorted(maps.Keys(policies))
	for _, name := range names {
		if err := s.disable(ctx, name, policies[name]); err != nil {
			return nil, fmt.Errorf("disabling policies of the ConfigMap %s: %w", name, err)
		}
	}
	deadline := time.Now().Add(s.Timeout)
	for {
		running = nil
		for _, name := range names {
			m, err := s.ConfigMaps.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, fmt.Errorf("reading the ConfigMap %s: %w", name, err)
			}
			running = append(running, stillRunning(m.Annotations, policies[name])...)
		}
		if len(running) == 0 || time.Now().After(deadline) {
			return running, nil
		}
		select {
		case <-ctx.Done():
			return running, ctx.Err()
		case <-time.After(s.Poll):
		}
	}
}

// disable adds to the modes that the ConfigMap asks for.
func (s *Stopper) disable(ctx context.Context, configMap string, policies []string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		m, err := s.ConfigMaps.Get(ctx, configMap, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now := m.Annotations[v1alpha1.AnnotationMode]
		want := disabled(now, policies)
		if want == now {
			return nil
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"resourceVersion": m.ResourceVersion, "annotations": map[string]string{v1alpha1.AnnotationMode: want},
		}})
		if err != nil {
			return err
		}
		_, err = s.ConfigMaps.Patch(ctx, configMap, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "edict-release"})
		return err
	})
}

// disabled adds policies to the annotation's modes, at its end: what stands
// later wins, also over a mode of all policies.
func disabled(modes string, policies []string) string {
	var parts []string
	for part := range strings.SplitSeq(modes, ",") {
		part = strings.TrimSpace(part)
		name, _, named := strings.Cut(part, "=")
		if part != "" && (!named || !slices.Contains(policies, name)) {
			parts = append(parts, part)
		}
	}
	for _, name := range policies {
		parts = append(parts, name+"="+v1alpha1.ModeDisabled)
	}
	return strings.Join(parts, ",")
}

// stillRunning returns which of the policies run, by the annotations of their ConfigMap.
func stillRunning(annotations map[string]string, policies []string) (out []string) {
	for id := range v1alpha1.Running(annotations) {
		if slices.Contains(policies, id) || id == "..." { // there are more than it says
			out = append(out, id)
		}
	}
	return out
}
