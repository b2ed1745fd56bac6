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

// TestSelfFeedingThroughVariables: a variable hides neither the field nor the sum nor the time.
func TestSelfFeedingThroughVariables(t *testing.T) {
	t.Parallel()
	const count = `int(object.metadata.?annotations[?"a"].orValue("0"))`
	for name, tc := range map[string]struct {
		variables, value string
		found            bool
	}{
		"inline":                 {`[]`, `string(` + strings.ReplaceAll(count, `"`, `\"`) + ` + 1)`, true},
		"the field":              {`[{name: n, expression: '` + count + `'}]`, "string(variables.n + 1)", true},
		"the sum":                {`[{name: n, expression: '` + count + ` + 1'}]`, "string(variables.n)", true},
		"both, in two":           {`[{name: n, expression: '` + count + `'}, {name: m, expression: variables.n + 1}]`, "string(variables.m)", true},
		"the time":               {`[{name: t, value: "at ${now}"}]`, "${variables.t}", true},
		"another field":          {`[{name: n, expression: '` + strings.Replace(count, `"a"`, `"b"`, 1) + `'}]`, "string(variables.n + 1)", false},
		"a choice":               {`[{name: n, expression: 'object.metadata.name == "x" ? ` + count + ` + 1 : 1'}]`, "string(variables.n)", false},
		"the field, not changed": {`[{name: n, expression: '` + count + `'}]`, "string(variables.n)", false},
	} {
		value := tc.value
		if !strings.Contains(value, "${") {
			value = "${" + value + "}"
		}
		text := forNodes + "  variables: " + tc.variables + "\n  rules: [{name: r, do: [{annotations: {set: {a: \"" + value + "\"}}}]}]\n"
		got := strings.Join(found(t, text), "\n")
		if strings.Contains(got, "self-feeding") != tc.found {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestOwnObjects: the objects of a child may not decide which of them are wanted, but for
// their keys.
func TestOwnObjects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		variables, decides string
		found              bool
	}{
		"when":                      {`[]`, `when: size(children.c) == 0`, true},
		"when, an object":           {`[]`, `when: '!has(children.c["a"].data)'`, true},
		"when, through a variable":  {`[{name: done, expression: 'children.c.exists(n, has(children.c[n].data))'}]`, `when: "!variables.done"`, true},
		"when, through a list":      {`[{name: done, forEach: 'children.c.map(n, n)', as: n, value: "${n}"}]`, `when: size(variables.done) == 0`, true},
		"when, what is ready":       {`[]`, `ready: has(item.data), when: size(variables.ready_c) == 0`, true},
		"forEach":                   {`[]`, `forEach: 'children.c.map(n, n)', as: i`, true},
		"a key":                     {`[]`, `when: '!("a" in children.c)'`, false},
		"a key, through a variable": {`[{name: had, expression: '"a" in children.c'}]`, `when: "!variables.had"`, false},
		"another child":             {`[]`, `when: size(children.d) == 0`, false},
	} {
		text := forNodes + "  variables: " + tc.variables + "\n  children:\n" +
			"    - {name: c, " + tc.decides + ", apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"a" + map[bool]string{true: "${i}"}[strings.Contains(tc.decides, "as: i")] + "\", namespace: n}}}\n" +
			"    - {name: d, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: d, namespace: n}}}\n"
		got := strings.Join(found(t, text), "\n")
		if strings.Contains(got, "self-feeding") != tc.found {
			t.Errorf("%s: %q", name, got)
		}
	}
}
