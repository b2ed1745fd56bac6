package reconcile

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/record"
)

// telemetry measures one reconciliation of a controller, and traces it.
type telemetry struct {
	c  *Controller
	id record.ID
	// traced is the trace; nil is none.
	traced *traced
}

// trace begins the trace of a reconciliation of a key with the change by which it was
// woken, which came at a time; zero is unknown. It is nil when nothing is traced.
func (t telemetry) trace(ctx context.Context, key eval.Key, woken []record.Wake, at time.Time) (context.Context, *traced) {
	tracer, p := t.c.group.Tracer, t.c.Policy
	if tracer == nil {
		return ctx, nil
	}
	now := time.Now()
	start := now
	if !at.IsZero() {
		start = at
	}
	ctx, span := tracer.Start(ctx, "reconcile", trace.WithTimestamp(start), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String(attrReconcile, t.id.String()), attribute.String(attrPolicy, p.ID()), attribute.String(attrRevision, p.Revision),
		attribute.String(attrKind, p.Primary.GVK.Kind), attribute.String(attrNamespace, key.Namespace), attribute.String(attrName, key.Name),
		attribute.StringSlice(attrReason, reasons(woken))))
	if start.Before(now) {
		_, queued := tracer.Start(ctx, "queue", trace.WithTimestamp(start))
		queued.End(trace.WithTimestamp(now))
	}
	return ctx, &traced{tracer: tracer, span: span}
}

func reasons(woken []record.Wake) []string {
	out := make([]string, len(woken))
	for i, w := range woken {
		out[i] = string(w.Reason)
	}
	return out
}

// evaluated counts an evaluation that has begun at a time.
func (t telemetry) evaluated(d *eval.Decision, start time.Time) {
	counted(t.c, d)
	end := time.Now()
	t.c.counts.EvaluationSeconds.Observe(end.Sub(start), end, t.exemplar)
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

// around measures and traces a write. What it returns ends that.
func (t telemetry) around(ctx context.Context, e *eval.Effect) (context.Context, func(error)) {
	start := time.Now()
	ctx, end := t.traced.write(ctx, e)
	return ctx, func(err error) {
		end(err)
		if e.Verb == eval.VerbEvent {
			return // the recorder sends it later
		}
		now := time.Now()
		t.c.counts.WriteSeconds.Observe(now.Sub(start), now, t.exemplar)
	}
}

// exemplar are the labels by which a measured value leads to the reconciliation.
func (t telemetry) exemplar() prometheus.Labels {
	out := prometheus.Labels{observe.ExemplarReconcile: t.id.String()}
	if trace := t.traced.traceID(); trace != "" {
		out[observe.ExemplarTrace] = trace
	}
	return out
}
