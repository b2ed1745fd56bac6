package backtest_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/backtest"
	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/test/fixture"
)

const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Node}
  rules: [{name: mark, do: [{labels: {set: {mark: "yes"}}}]}]
`

// TestInputsThatAreNone: a line with an object that is none is a decision that is not
// made, and the lines after it are judged.
func TestInputsThatAreNone(t *testing.T) {
	t.Parallel()
	const good = `{"objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}]}`
	for inputs, want := range map[string]string{
		`{"objects":[null]}`: "line 1 of the log: inputs.objects[0] is null, not an object",
		`{"objects":[{}]}`:   "line 1 of the log: inputs.objects[0] needs apiVersion, kind and metadata.name",
		`{"objects":[{"apiVersion":"v1","kind":"Node","metadata":null}]}`: "line 1 of the log: inputs.objects[0] needs",
		`{"objects":[],"primary":{}}`:                                     "line 1 of the log: inputs.primary needs",
		`{"objects":[],"answers":{"x":null}}`:                             "x",
		`{"objects":[],"remembered":{"x":null}}`:                          "x",
	} {
		log := line("1", inputs) + line("2", good)
		got, err := backtest.Run(t.Context(), strings.NewReader(log), fixture.Compiled(t, policy).Policies, capture.Options{Schemas: schema.Builtin()})
		if err != nil {
			t.Errorf("%s: %v", inputs, err)
			continue
		}
		if len(got.NotDecided) != 1 || !strings.Contains(got.NotDecided[0].Reason, want) || got.Decisions != 2 || got.Same != 1 {
			t.Errorf("%s: %+v", inputs, got)
		}
	}
}

func line(id, inputs string) string {
	return `{"id":"` + id + `","at":"2026-03-01T12:00:00Z","policy":"mark","key":{"name":"a"},"verb":"patch",` +
		`"target":{"apiVersion":"v1","kind":"Node","name":"a"},"patch":{"metadata":{"labels":{"mark":"yes"}}},"inputs":` + inputs + "}\n"
}

// TestLogOfAPod: the output of a controller has the lines of its own log too. Those between
// the writes of one decision do not make it two.
func TestLogOfAPod(t *testing.T) {
	t.Parallel()
	const inputs = `{"objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}]}`
	var own strings.Builder
	log := slog.New(slog.NewJSONHandler(&own, nil))
	log.Info("wrote", "policy", "mark", "key", "a", "rule", []string{"mark"}, "verb", "patch")
	log.Error("the policy is refused", "policy", "mark", "error", "of a text")
	two := strings.Replace(policy, "do: [", "do: [{annotations: {set: {mark: \"yes\"}}}, ", 1)
	first, second := line("1", inputs), strings.Replace(line("1", "null"), "labels", "annotations", 1)
	for name, text := range map[string]string{
		"alone": first + second, "before": own.String() + first + second, "between": first + own.String() + second, "after": first + second + own.String(),
	} {
		got, err := backtest.Run(t.Context(), strings.NewReader(text), fixture.Compiled(t, two).Policies, capture.Options{Schemas: schema.Builtin()})
		if err != nil || got.Decisions != 1 || len(got.NotDecided) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := backtest.Run(t.Context(), strings.NewReader(`{"time": "of what is cut`), nil, capture.Options{}); err == nil {
		t.Error("a line that is not whole is passed over")
	}
}
