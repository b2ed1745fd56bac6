package reconcile

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/record"
)

// count counts the evaluation, and how long it took.
func (r *reconciliation) count(start time.Time) {
	counted(r.c, r.result.Decision)
	id, t, end := r.result.ID, r.traced, time.Now()
	r.c.counts.EvaluationSeconds.Observe(end.Sub(start), end, func() prometheus.Labels { return exemplar(id, t) })
}

// counted counts an evaluation and what became of its rules.
func counted(c *Controller, d *eval.Decision) {
	c.counts.Evaluations.Inc()
	for i := range c.counts.Rules {
		rule := &c.counts.Rules[i]
		switch {
		case !d.Reached.Has(i):
		case d.Failed(c.Policy.Rules[i].Name):
			rule.Failed.Inc()
		case d.Fired.Has(i):
			rule.Fired.Inc()
		case d.Delayed(i) != nil:
			rule.Delayed.Inc()
		default:
			rule.Skipped.Inc()
		}
	}
}

func exemplar(id record.ID, t *traced) prometheus.Labels {
	out := prometheus.Labels{observe.ExemplarReconcile: id.String()}
	if trace := t.traceID(); trace != "" {
		out[observe.ExemplarTrace] = trace
	}
	return out
}

// around measures and traces the writes.
func (r *reconciliation) around() func(context.Context, *eval.Effect) (context.Context, func(error)) {
	c, id, t := r.c, r.result.ID, r.traced
	return func(ctx context.Context, e *eval.Effect) (context.Context, func(error)) {
		start := time.Now()
		ctx, end := t.write(ctx, e)
		return ctx, func(err error) {
			end(err)
			if e.Verb == eval.VerbEvent {
				return // the recorder sends it later
			}
			now := time.Now()
			c.counts.WriteSeconds.Observe(now.Sub(start), now, func() prometheus.Labels { return exemplar(id, t) })
		}
	}
}
