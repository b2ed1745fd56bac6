package policies

import (
	"context"
	"encoding/json"
	"log/slog"
	"path"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

const (
	// shadowInterval is the interval between updates of the annotation.
	shadowInterval = 5 * time.Second
	// maxShadow is the size of the annotation, in bytes.
	maxShadow = 16 << 10
)

// shadowWriter writes what policies in Shadow mode would have written into the
// annotations of their ConfigMaps.
type shadowWriter struct {
	client   kubernetes.Interface
	store    *configmap.Store
	policies *lifecycle.Registry
	reports  func() []*reconcile.ShadowReport
	log      *slog.Logger
}

// write writes the reports of policies in Shadow mode into their ConfigMaps.
func (s *shadowWriter) write(ctx context.Context) {
	by := map[string][]*reconcile.ShadowReport{}
	for _, r := range s.reports() {
		if now := s.policies.Get(plan.ID{Name: r.Policy, Shadow: true}.String()).Assigned; now != nil {
			at := path.Dir(now.Unit.File.Path)
			by[at] = append(by[at], r)
		}
	}
	for _, m := range s.store.Policies() {
		text := shadowText(by[m.Namespace+"/"+m.Name])
		if m.Annotations[v1alpha1.AnnotationShadow] == text {
			continue
		}
		var value any
		if text != "" {
			value = text
		}
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": m.UID, "annotations": map[string]any{v1alpha1.AnnotationShadow: value}}})
		if err == nil {
			_, err = s.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("cannot update the shadow report in the annotations of the ConfigMap", "configmap", m.Name, "error", err.Error())
		}
	}
}

// shadowLines is how many differences of an example there are in the annotation.
const shadowLines = 10

// shadowText writes reports, with as many examples as there is room for; what is
// left out is counted.
func shadowText(reports []*reconcile.ShadowReport) string {
	if len(reports) == 0 {
		return ""
	}
	for _, r := range reports {
		for i := range r.Examples {
			r.Examples[i].Shorten(shadowLines)
		}
	}
	for {
		text, err := json.Marshal(reports)
		if err != nil {
			return ""
		}
		longest := slices.MaxFunc(reports, func(a, b *reconcile.ShadowReport) int { return len(a.Examples) - len(b.Examples) })
		if len(text) <= maxShadow || len(longest.Examples) == 0 {
			return string(text)
		}
		longest.Examples = longest.Examples[:len(longest.Examples)-1]
		longest.MoreExamples++
	}
}
