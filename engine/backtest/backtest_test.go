package backtest_test

import (
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
