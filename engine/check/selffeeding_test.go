package check_test

import (
	"strings"
	"testing"
)

// TestSelfFeeding: a rule without a condition may not write the time of the evaluation, nor a
// field that is computed from itself.
func TestSelfFeeding(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		when, do string
		found    bool
	}{
		"the time":             {"", `{annotations: {set: {a: "${string(now)}"}}}`, true},
		"the time, always":     {"when: 'true', ", `{annotations: {set: {a: "${string(now)}"}}}`, true},
		"in a text":            {"", `{patch: {value: {spec: {externalID: "at ${now}"}}}}`, true},
		"in an applied object": {"", `{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}, data: {a: "${string(now)}"}}}`, true},
		"in a created object":  {"", `{create: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}, data: {a: "${string(now)}"}}}`, false},
		"in an event":          {"", `{event: {reason: R, message: "${now}"}}`, false},
		"with a condition":     {"when: object.metadata.name == \"a\", ", `{annotations: {set: {a: "${string(now)}"}}}`, false},
		"once":                 {"", `{annotations: {set: {a: "${object.metadata.?annotations[?\"a\"].orValue(string(now))}"}}}`, false},
	} {
		text := forNodes + "  rules: [{name: r, " + tc.when + "do: [" + tc.do + "]}]\n"
		got := strings.Join(found(t, text), "\n")
		if strings.Contains(got, "self-feeding") != tc.found {
			t.Errorf("%s: %q", name, got)
		}
	}
}
