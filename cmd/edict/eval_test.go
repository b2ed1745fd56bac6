package main

import (
	"strings"
	"testing"
)

// TestEval evaluates expressions, by themselves and as part of a policy.
func TestEval(t *testing.T) {
	t.Parallel()
	world := []string{"-f", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--now", "2026-03-01T12:00:00Z"}
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"alone":             {[]string{`duration("90m") > duration("1h")`}, 0, "true\n", ""},
		"as JSON":           {[]string{`{"a": [1]}`, "-o", "json"}, 0, "{\n  \"a\": [\n    1\n  ]\n}\n", ""},
		"an infinity":       {[]string{`{"a": [1.0 / 0.0]}`}, 1, "", "the value has the number +Inf, which no object can have"},
		"no number":         {[]string{`0.0 / 0.0`, "-o", "json"}, 1, "{\n  \"error\": \"the value has the number NaN, which no object can have: string(...) shows it\"\n}\n", "the value has the number NaN, which no object can have"},
		"in a policy":       {append([]string{`object.metadata.labels`, "--key", "node-b"}, world...), 0, "example.com/cordoned: \"true\"\nzone: a\n", ""},
		"a wrong name":      {append([]string{`object.metadata.nam`, "--key", "node-b"}, world...), 1, "", "expression:1:16: error: no field \"nam\" here"},
		"an error":          {append([]string{`object.metadata.labels["x"]`, "--key", "node-b"}, world...), 1, "", "\"x\" is absent"},
		"several objects":   {append([]string{`1`}, world...), 1, "", "name one, such as node-a with --key"},
		"no such object":    {append([]string{`1`, "--key", "z"}, world...), 1, "", "there is no Node z"},
		"an unknown policy": {append([]string{`1`, "--policy", "cordonned"}, world...), 1, "", `did you mean "cordoned"?`},
		"a key alone":       {[]string{"1", "--key", "a"}, 64, "", "need --policies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := program(t, append([]string{"eval"}, tc.args...)...)
			if got.code != tc.code || got.stdout != tc.stdout || !strings.Contains(got.stderr, tc.stderr) {
				t.Errorf("%+v", got)
			}
		})
	}
}
