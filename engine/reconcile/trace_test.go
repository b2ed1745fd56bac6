package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

const calling = `  rules:
    - {name: mark, do: [{labels: {set: {mark: "${object.metadata.labels['class']}"}}}]}
    - {name: never, when: "key.name == 'x'", do: [{labels: {set: {b: c}}}]}
    - name: choose
      continueOnError: true
      do:
        - select:
            candidates: [{as: c, in: "['a']"}]
            pipeline: [{call: extender.filterAndScore, with: {reservationID: r, ttl: "${duration('1s')}", size: 1}, candidate: {name: "${c}"}}]
            then: [{log: {message: chosen}}]
`

// leaking answers with an error that has a value.
type leaking struct{}

func (leaking) Answer(context.Context, *expr.Request) (*expr.Response, error) {
	return nil, errors.New("no answer for sesame")
}

// histogram has one bucket.
func histogram() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Help: "h", Buckets: []float64{1000}})
}

// exemplarOf returns the labels of the exemplar of a histogram with one bucket.
func exemplarOf(t *testing.T, h prometheus.Histogram) map[string]string {
	t.Helper()
	var m dto.Metric
	if err := h.Write(&m); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range m.GetHistogram().GetBucket()[0].GetExemplar().GetLabel() {
		out[l.GetName()] = l.GetValue()
	}
	return out
}

// TestTrace: the trace of a reconciliation has the queue, the evaluation, its calls
// and its writes, with names and without values.
func TestTrace(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	p, b := compiled(t, calling)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	g.Answers, g.Tracer = leaking{}, sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)).Tracer("test")
	evaluations, writes := histogram(), histogram()
	g.Counts = func(*plan.Policy) *observe.Counts {
		counts := observe.Unseen()
		counts.EvaluationSeconds, counts.WriteSeconds = observe.NewSeconds(evaluations, nil), observe.NewSeconds(writes, nil)
		return counts
	}
	c := g.Add(p)
	put(t, g, "n", "1", map[string]any{"class": "sesame"})
	r := c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon)
	if len(r.Outcomes) != 1 || r.Err == nil || !strings.Contains(r.Err.Error(), "sesame") {
		t.Fatalf("%+v", r)
	}
	spans := exporter.GetSpans()
	want := map[string]string{
		"queue":    "under reconcile:",
		"evaluate": "under reconcile: edict.rules_fired=[mark choose] edict.rules_failed=[choose] Error",
		"call":     "under evaluate: edict.builtin=extender.filterAndScore edict.rules=[choose] Error",
		"write":    "under reconcile: edict.rules=[mark] edict.verb=patch edict.target.kind=Node edict.target.namespace= edict.target.name=n edict.result=written",
		"reconcile": fmt.Sprintf("under : edict.reconcile_id=%s edict.policy=%s edict.revision=%s edict.kind=Node edict.namespace= edict.name=n edict.woken_by=[created] Error",
			r.ID, p.ID(), p.Revision),
	}
	if d := cmp.Diff(want, described(t, spans)); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
	exemplar := map[string]string{"reconcile_id": r.ID.String(), "trace_id": spans[0].SpanContext.TraceID().String()}
	for name, h := range map[string]prometheus.Histogram{"evaluations": evaluations, "writes": writes} {
		if d := cmp.Diff(exemplar, exemplarOf(t, h)); d != "" {
			t.Errorf("the exemplar of %s (-want +got):\n%s", name, d)
		}
	}
	if len(c.known.wakes.of) > 0 {
		t.Errorf("%v is kept", c.known.wakes.of)
	}
}

// described returns what spans say, by their names.
func described(t *testing.T, spans tracetest.SpanStubs) map[string]string {
	t.Helper()
	names, out := map[string]string{}, map[string]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range spans {
		text := "under " + names[s.Parent.SpanID().String()] + ":"
		for _, a := range s.Attributes {
			if a.Key != attrCost {
				text += fmt.Sprintf(" %s=%v", a.Key, a.Value.AsInterface())
			}
		}
		if s.Status.Code.String() == "Error" {
			text += " Error" + s.Status.Description
		}
		if s.EndTime.Before(s.StartTime) || len(s.Events) > 0 {
			t.Errorf("%s: from %v to %v, events %v", s.Name, s.StartTime, s.EndTime, s.Events)
		}
		out[s.Name] = text
	}
	return out
}

// TestTracesAreOff: without a tracer nothing is allocated or kept.
func TestTracesAreOff(t *testing.T) {
	p, b := compiled(t, calling)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(p)
	put(t, g, "n", "1", nil)
	key, ctx, effect := eval.Key{Name: "n"}, t.Context(), &eval.Effect{}
	by := c.known.wakes.take(key)
	measured, woken, result := telemetry{c: c, id: c.NewID()}, c.known.reasons(key, by), &Result{}
	if n := testing.AllocsPerRun(100, func() {
		_, traced := measured.trace(ctx, key, woken, by.at)
		_, end := traced.write(ctx, effect)
		end(nil)
		traced.end(result)
		traced.close()
	}); n > 0 || !by.at.IsZero() {
		t.Errorf("%v allocations, woken at %v", n, by.at)
	}
}

// TestShadowKeepsNoTimes: when a key was woken is not kept by a policy that is not traced
// itself.
func TestShadowKeepsNoTimes(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, "  mode: Shadow\n"+calling)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	g.Tracer = sdktrace.NewTracerProvider().Tracer("test")
	c := g.Add(p)
	put(t, g, "n", "1", nil)
	if woken := c.known.wakes.of[eval.Key{Name: "n"}]; woken == nil || woken.at.IsZero() {
		t.Fatalf("it was woken: %+v", woken)
	}
	c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon)
	if len(c.known.wakes.of) > 0 {
		t.Errorf("%v is kept", c.known.wakes.of)
	}
}

// TestRolloutKeepsNoTimes: the revision of a rollout that only looks on keeps nothing of
// what has woken a key either.
func TestRolloutKeepsNoTimes(t *testing.T) {
	t.Parallel()
	r := newRolling(t, strings.Replace(labelling, "VALUE", "a", 1), strings.Replace(labelling, "VALUE", "b", 1), "[{percent: 50}]", 4)
	r.group.Tracer = sdktrace.NewTracerProvider().Tracer("test")
	r.Advance(r.spec.Share(1))
	for i := range 4 {
		put(t, r.group, fmt.Sprint("n", i), "2", map[string]any{"zone": "x"})
	}
	if woken := r.next.known.wakes.of[eval.Key{Name: "n0"}]; woken == nil || woken.at.IsZero() {
		t.Fatalf("it was woken: %+v", woken)
	}
	r.reconcile(r.keys())
	if len(r.base.known.wakes.of)+len(r.next.known.wakes.of) > 0 {
		t.Errorf("%v and %v are kept", r.base.known.wakes.of, r.next.known.wakes.of)
	}
}
