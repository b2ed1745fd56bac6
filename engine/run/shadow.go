package run

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// ShadowPath is where a process tells what its policies in the shadow came to.
const ShadowPath = "/shadowz"

const (
	// shadowInterval is how often the ConfigMaps are told of it.
	shadowInterval = 5 * time.Second
	// maxShadow bounds the annotation, in bytes.
	maxShadow = 16 << 10
)

// shadows returns what the policies in the shadow came to, by name.
func (t *term) shadows() (out []*reconcile.ShadowReport) {
	for _, c := range t.group.Controllers() {
		if r := c.ShadowReport(); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// shadowz tells it over HTTP. Where processes take turns, only the one that
// leads knows.
func (p *process) shadowz(w http.ResponseWriter, _ *http.Request) {
	t := p.term.Load()
	if t == nil {
		http.Error(w, "no policy runs in this process: ask the one that leads", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	reports := t.shadows()
	if reports == nil {
		reports = []*reconcile.ShadowReport{}
	}
	if err := json.NewEncoder(w).Encode(reports); err != nil {
		p.Log.Debug("a reader went away", "error", err.Error())
	}
}

// tellShadows writes it into the ConfigMaps of the policies.
func (l *library) tellShadows(ctx context.Context) {
	by := map[string][]*reconcile.ShadowReport{}
	for _, r := range l.shadows() {
		if now := l.policies.Get(r.Policy + plan.ShadowSuffix).Assigned; now != nil {
			at := path.Dir(now.Unit.File.Path)
			by[at] = append(by[at], r)
		}
	}
	for _, m := range l.shelf.all() {
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
			_, err = l.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
		}
		if err != nil && ctx.Err() == nil {
			l.Log.Warn("what a policy in the shadow came to cannot be written into its ConfigMap", "configmap", m.Name, "error", err.Error())
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
