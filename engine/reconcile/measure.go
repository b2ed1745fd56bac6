package reconcile

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/world"
)

// measured counts an evaluation and how long it took.
func (c *Controller) measured(id record.ID, start time.Time, d *eval.Decision) {
	c.counted(d)
	end := time.Now()
	c.counts.EvaluationSeconds.Observe(end.Sub(start), end, func() prometheus.Labels { return exemplar(id) })
}

// counted counts an evaluation and what became of its rules.
func (c *Controller) counted(d *eval.Decision) {
	c.counts.Evaluations.Inc()
	for i := range c.counts.Rules {
		rule := &c.counts.Rules[i]
		switch {
		case !d.Reached.Has(i):
		case d.Failed.Has(i):
			rule.Failed.Inc()
		case d.Fired.Has(i):
			rule.Fired.Inc()
		default:
			rule.Skipped.Inc()
		}
	}
}

func exemplar(id record.ID) prometheus.Labels {
	return prometheus.Labels{observe.ExemplarReconcile: id.String()}
}

// measuredWriter measures how long the writes of a reconciliation take.
type measuredWriter struct {
	apply.Writer
	id     record.ID
	counts *observe.Counts
}

func (w measuredWriter) Patch(ctx context.Context, p apply.Patch) (world.Version, error) {
	defer w.took(time.Now())
	return w.Writer.Patch(ctx, p)
}

func (w measuredWriter) Make(ctx context.Context, m apply.Manifest) (world.Version, error) {
	defer w.took(time.Now())
	return w.Writer.Make(ctx, m)
}

func (w measuredWriter) Delete(ctx context.Context, d apply.Deletion) error {
	defer w.took(time.Now())
	return w.Writer.Delete(ctx, d)
}

func (w measuredWriter) took(start time.Time) {
	end := time.Now()
	w.counts.WriteSeconds.Observe(end.Sub(start), end, func() prometheus.Labels { return exemplar(w.id) })
}
