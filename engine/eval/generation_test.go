package eval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGenerationOfAWrite: rules see the generation that the API server gives an object for
// the writes above them, once however many they are. With the one before, the status would
// seem to be about what has just been written.
func TestGenerationOfAWrite(t *testing.T) {
	t.Parallel()
	const w = "{kind: Widget, metadata: {name: w, generation: 3, labels: {a: x}}, spec: {num: 1}, status: {phase: Old}}"
	see := `labels: {set: {seen: "${string(object.metadata.?generation.orValue(0))}"}}`
	seen := func(n string) string { return `patch w {"metadata":{"labels":{"seen":"` + n + `"}}}` }
	for name, tc := range map[string]struct {
		spec, object string
		want         []string
	}{
		"nothing":               {do(see), w, []string{"r1: " + seen("3")}},
		"the spec":              {do("patch: {value: {spec: {num: 2}}}", see), w, []string{`r1, r2: patch w {"metadata":{"labels":{"seen":"4"}},"spec":{"num":2}}`}},
		"the spec as it is":     {do("patch: {value: {spec: {num: 1}}}", see), w, []string{"r2: " + seen("3")}},
		"the spec, twice":       {do("patch: {value: {spec: {num: 2}}}", "patch: {value: {spec: {num: 5}}}", see), w, []string{`r1, r2, r3: patch w {"metadata":{"labels":{"seen":"4"}},"spec":{"num":5}}`}},
		"there and back":        {do("patch: {value: {spec: {num: 2}}}", "patch: {value: {spec: {num: 1}}}", see), w, []string{`r1, r2, r3: ` + seen("3")}},
		"a field beside spec":   {do("patch: {value: {data: {a: b}}}", see), w, []string{`r1, r2: patch w {"data":{"a":"b"},"metadata":{"labels":{"seen":"4"}}}`}},
		"a label":               {do("labels: {set: {a: y}}", see), w, []string{`r1, r2: patch w {"metadata":{"labels":{"a":"y","seen":"3"}}}`}},
		"the status":            {do("status: {phase: New}", see), w, []string{`r1: patch w/status {"status":{"phase":"New"}}`, "r2: " + seen("3")}},
		"the scale":             {do("scale: {replicas: 2, field: spec.num}", see), w, []string{`r1: scale w {"spec":{"num":2}}`, "r2: " + seen("4")}},
		"a kind that has none":  {do("patch: {value: {spec: {num: 2}}}", see), "{kind: Widget, metadata: {name: w}, spec: {num: 1}}", []string{`r1, r2: patch w {"metadata":{"labels":{"seen":"0"}},"spec":{"num":2}}`}},
		"what the status is of": {do("patch: {value: {spec: {num: 2}}}", `labels: {set: {ready: "${string(object.?status.observedGeneration.orValue(0) >= object.metadata.?generation.orValue(0))}"}}`), "{kind: Widget, metadata: {name: w, generation: 3}, spec: {num: 1}, status: {observedGeneration: 3}}", []string{`r1, r2: patch w {"metadata":{"labels":{"ready":"false"}},"spec":{"num":2}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, told(newBench(t, tc.spec, tc.object).decide(widget, now))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
