package main

import (
	"slices"
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
		"a key alone":       {[]string{"1", "--key", "a"}, 64, "", "need -f PATH or -n NAMESPACE"},
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

// TestObjectsOfATest: the world of a command may be a case of a policy test, with its time and
// its answers.
func TestObjectsOfATest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	policy := write(t, folder, "p.yaml", "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n"+
		"  rules: [{name: r, when: 'object.data.a == \"2\"', do: [{labels: {set: {late: '${string(elapsed(timestamp(\"2026-05-01T00:00:00Z\"), duration(\"1h\")))}'}}}]}]\n")
	test := write(t, folder, "p_test.yaml", "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  now: \"2026-05-01T00:30:00Z\"\n"+
		"  objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}, data: {a: \"1\"}}]\n  cases:\n"+
		"    - {name: first}\n    - {name: second, now: \"2026-05-01T02:00:00Z\", patch: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}, data: {a: \"2\"}}]}\n")
	on := []string{"--policies", policy, "--objects", test}
	for name, tc := range map[string]struct {
		args   []string
		first  string
		second string
	}{
		"simulate": {append([]string{"simulate", "-o", "yaml"}, on...), "effects: []", `late: "true"`},
		"explain":  {append([]string{"explain", "p", "n/c"}, on...), "no rule applies", `"late":"true"`},
		"eval":     {append([]string{"eval", "object.data.a + string(elapsed(timestamp('2026-05-01T00:00:00Z'), duration('1h')))"}, on...), "1false", "2true"},
		"explore":  {append([]string{"explore", "--export", "-"}, on...), "2026-05-01T00:30:00Z", "2026-05-01T02:00:00Z"},
		"verify":   {append([]string{"verify", "--changes", "0"}, on...), "of a world of 1 object", "of a world of 1 object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for test, want := range map[string]string{"first": tc.first, "second": tc.second} {
				if out, err := execute(t, append(slices.Clone(tc.args), "--case", test)...); err != nil || !strings.Contains(out, want) {
					t.Errorf("%s: %v\n%s", test, err, out)
				}
			}
			for test, want := range map[string]string{"": `has the cases "first", "second"`, "third": `has the cases "first", "second"`} {
				if _, err := execute(t, append(slices.Clone(tc.args), "--case", test)...); err == nil || !strings.Contains(err.Error(), strings.Replace(want, "has", "is a policy test with", 1)) {
					t.Errorf("%q: %v", test, err)
				}
			}
		})
	}
}
