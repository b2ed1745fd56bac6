package reconcile

import (
	"context"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
)

// The attributes of spans. None of them has a value of an object.
const (
	attrReconcile = "edict.reconcile_id"
	attrPolicy    = "edict.policy"
	attrRevision  = "edict.revision"
	attrKind      = "edict.kind"
	attrNamespace = "edict.namespace"
	attrName      = "edict.name"
	attrReason    = "edict.woken_by"
	attrRules     = "edict.rules"
	attrFired     = "edict.rules_fired"
	attrFailed    = "edict.rules_failed"
	attrCost      = "edict.cost"
	attrBuiltin   = "edict.builtin"
	attrVerb      = "edict.verb"
	attrResult    = "edict.result"

	attrTargetKind      = "edict.target.kind"
	attrTargetNamespace = "edict.target.namespace"
	attrTargetName      = "edict.target.name"
)

// traced is the trace of one reconciliation. The methods of nil do nothing.
type traced struct {
	tracer trace.Tracer
	span   trace.Span
	// calls are those of builtins, in order.
	calls []call
}

// end ends the trace with the result.
func (t *traced) end(r *Result) {
	if t == nil {
		return
	}
	if r.Err != nil && !r.Quiet || r.Final != nil {
		t.span.SetStatus(codes.Error, "") // the text may have values
	}
	t.span.End()
}

// close ends the trace also of a reconciliation that panics.
func (t *traced) close() {
	if t != nil {
		t.span.End()
	}
}

// evaluate lets a controller evaluate, and traces that with the calls of builtins in it.
func (t *traced) evaluate(ctx context.Context, c *Controller, in eval.Input) *eval.Decision {
	if t == nil {
		return c.evaluate(ctx, in)
	}
	ctx, span := t.tracer.Start(ctx, "evaluate")
	defer span.End()
	if _, again := in.Answers.(*repeated); in.Answers != nil && !again {
		in.Answers = &answering{Answerer: in.Answers, traced: t}
	}
	d := c.evaluate(ctx, in)
	for i, call := range t.calls {
		if i < len(d.Calls) {
			call.span.SetAttributes(attribute.StringSlice(attrRules, []string{d.Calls[i].Rule}))
		}
		call.span.End(trace.WithTimestamp(call.end))
	}
	span.SetAttributes(attribute.StringSlice(attrFired, rulesThat(c.Policy, func(i int, _ string) bool { return d.Fired.Has(i) })), attribute.StringSlice(attrFailed, rulesThat(c.Policy, func(_ int, name string) bool { return d.Failed(name) })),
		attribute.Int64(attrCost, int64(min(d.Cost, math.MaxInt64))))
	if len(d.Problems) > 0 {
		span.SetStatus(codes.Error, "")
	}
	return d
}

// rulesThat returns the names of the rules that are something.
func rulesThat(p *plan.Policy, is func(i int, name string) bool) (out []string) {
	for i, r := range p.Rules {
		if is(i, r.Name) {
			out = append(out, r.Name)
		}
	}
	return out
}

// call is the span of a call. The rule that called is known when the decision is
// made, so it is ended then.
type call struct {
	span trace.Span
	end  time.Time
}

// answering traces the calls of an evaluation, which makes one after the other.
type answering struct {
	expr.Answerer
	traced *traced
}

// Answer implements expr.Answerer.
func (a *answering) Answer(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	ctx, span := a.traced.tracer.Start(ctx, "call", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String(attrBuiltin, request.Query)))
	response, err := a.Answerer.Answer(ctx, request)
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	a.traced.calls = append(a.traced.calls, call{span, time.Now()})
	return response, err
}

// write begins the span of a write; what it returns ends it.
func (t *traced) write(ctx context.Context, e *eval.Effect) (context.Context, func(error)) {
	if t == nil {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(ctx, "write", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.StringSlice(attrRules, e.Rules), attribute.String(attrVerb, e.Verb),
		attribute.String(attrTargetKind, e.Target.Kind()), attribute.String(attrTargetNamespace, e.Target.Namespace()), attribute.String(attrTargetName, e.Target.Name())))
	return ctx, func(err error) {
		outcome := apply.Outcome{Err: err}
		if apply.IsRefused(err) {
			outcome = apply.Outcome{Refused: err}
		}
		span.SetAttributes(attribute.String(attrResult, outcome.Result()))
		if outcome.Err != nil && !apply.IsConflict(err) {
			span.SetStatus(codes.Error, string(apierrors.ReasonForError(err)))
		}
		span.End()
	}
}

// traceID returns the ID of the trace if it is exported; "" otherwise.
func (t *traced) traceID() string {
	if t == nil || !t.span.SpanContext().IsSampled() {
		return ""
	}
	return t.span.SpanContext().TraceID().String()
}
