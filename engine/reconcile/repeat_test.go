package reconcile

import (
	"errors"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// TestAnotherRequest: when a key asks something else about what it has written, all calls
// are made: outside, each may depend on those before it.
func TestAnotherRequest(t *testing.T) {
	t.Parallel()
	const first = `  rules:
    - name: first
      do:
        - select:
            candidates: [{as: c, in: "['a', 'b']"}]
            pipeline: [{call: extender.filterAndScore, with: {reservationID: "${key.name}", ttl: "${duration('1s')}", size: 1}, candidate: {name: "${c}"}}]
            then: [{log: {message: chosen}}]
`
	after := func(spec string) string { return strings.Replace(spec, "  rules:\n", first, 1) }
	changing := askingWith("object.metadata.?labels[?'place'].orValue('r')", "")
	for name, tc := range map[string]struct {
		spec          string
		before, after int
	}{
		"another":              {changing, 1, 2},
		"the same and another": {after(changing), 2, 4},
		"two that are alike":   {after(askingWith("key.name", "")), 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEchoing(t, tc.spec)
			e.reconcile(tc.before)
			e.back()
			r := e.reconcile(tc.after)
			if r.Err != nil || r.Final != nil || r.Decision.Calls[0].AnsweredBefore != (tc.after == tc.before) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestRepeated: of calls with the same request, each answer serves one; another request
// has none.
func TestRepeated(t *testing.T) {
	t.Parallel()
	request := func(query, with, candidate string, n value.Value) *expr.Request {
		return &expr.Request{Query: query, With: value.FromMap(map[string]value.Value{"id": value.OfString(with), "n": n}),
			Candidates: expr.CandidatesOf(value.FromMap(map[string]value.Value{"name": value.OfString(candidate)}))}
	}
	same := func() *expr.Request { return request("q", "w", "c", value.OfInt(1)) }
	first, last := &expr.Response{}, &expr.Response{}
	left := []eval.Call{{Request: same(), Response: first}, {Request: same(), Response: last}}
	for name, other := range map[string]*expr.Request{
		"query": request("x", "w", "c", value.OfInt(1)), "field": request("q", "x", "c", value.OfInt(1)), "candidate": request("q", "w", "x", value.OfInt(1)),
		"type": request("q", "w", "c", value.OfDouble(1)), "no candidate": {Query: "q", With: same().With},
	} {
		a := &repeated{left: left}
		if _, err := a.Answer(t.Context(), other); !errors.Is(err, expr.ErrNoAnswer) || !a.missed {
			t.Errorf("another %s: %v", name, err)
		}
	}
	a := &repeated{left: left}
	for i, want := range []*expr.Response{first, last} {
		if got, err := a.Answer(t.Context(), same()); got != want || err != nil || a.missed {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	if _, err := a.Answer(t.Context(), same()); err == nil || !a.missed {
		t.Error("it answers more often than it was answered")
	}
}

// TestEchoAfterAnotherRequest: the answers are as old as the calls that were made last.
func TestEchoAfterAnotherRequest(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, askingWith("object.metadata.?labels[?'place'].orValue('r')", "    - {name: again, when: object.metadata.labels.place == 'none', do: [{labels: {set: {m: \"${object.metadata.?labels[?'m'].hasValue() ? 'y' : 'x'}\"}}}]}\n"))
	e.reconcile(1)
	e.now = noon.Add(patience)
	e.back()
	if r := e.reconcile(2); len(r.Outcomes) != 1 {
		t.Fatalf("%+v", r)
	}
	e.now = noon.Add(2 * patience)
	e.back()
	e.reconcile(2)
}

// TestFlushAsks: a key that is run a last time asks, although it is an echo.
func TestFlushAsks(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, placeless)
	e.reconcile(1)
	e.back()
	e.c.reconcile(t.Context(), theNode, e.now, true)
	if e.answers.calls != 2 {
		t.Errorf("%d calls, want 2", e.answers.calls)
	}
}

// TestNoSpanOfACallThatWasNotMade: a trace has the calls that were made.
func TestNoSpanOfACallThatWasNotMade(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	e := newEchoing(t, placeless)
	e.group.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)).Tracer("test")
	for range 2 {
		e.reconcile(1)
		e.back()
		n := 0
		for _, span := range exporter.GetSpans() {
			if span.Name == "call" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d spans of calls, want 1", n)
		}
	}
}

// TestEditAsks: another revision of the policy asks what was asked before it.
func TestEditAsks(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, placeless)
	e.reconcile(1)
	e.back()
	edited, _ := compiled(t, askingWith("object.metadata.?labels[?'request'].orValue('r')", "    - {name: more, do: [{log: {message: more}}]}\n"))
	next := e.group.Join(edited)
	next.Adopt(e.c, e.group.Replay(t.Context(), next))
	e.c = next
	e.reconcile(2)
}
