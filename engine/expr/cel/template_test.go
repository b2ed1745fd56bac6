package cel

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/widgets"
)

// yaml reads the YAML of one value.
func yaml(t *testing.T, text string) *document.Node {
	t.Helper()
	var problems document.Problems
	nodes := document.Parse("f.yaml", []byte("k: "+text), &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return nodes[0].Get("k")
}

// template compiles a template that is expected to be right.
func template(t *testing.T, env *Env, text string) *Template {
	t.Helper()
	var problems document.Problems
	out := env.Template(yaml(t, text), &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// scoped is what the templates below are filled in with.
func scoped() names {
	return names{
		"object": object(map[string]any{
			"metadata": map[string]any{"name": "w", "labels": map[string]any{"zone": "a"}, "annotations": map[string]any{"c": "3", "a": "1", "b": "2"}},
			"spec": map[string]any{
				"nodeName": "node-a", "replicas": int64(3), "paused": true, "weight": 1.5, "startTime": "2026-03-01T12:00:00.5Z",
				"zones": []any{"a", "b"}, "limits": map[string]any{}, "free": nil,
			},
		}),
		"params.label": value.OfString("zone"), "params.limit": value.OfInt(3), "key.name": value.OfString("w"),
		"now": value.OfTime(time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600))),
	}
}

// TestTemplateValues: what comes of a template, as plain JSON.
func TestTemplateValues(t *testing.T) {
	t.Parallel()
	env, scope := declared(t), scoped()
	for name, tc := range map[string]struct {
		text string
		want any
	}{
		"a text":                        {"abc", "abc"},
		"a number":                      {"3", int64(3)},
		"a boolean":                     {"true", true},
		"null":                          {"null", nil},
		"an empty text":                 {`""`, ""},
		"a number keeps its type":       {"${object.spec.replicas + 1}", int64(4)},
		"a float keeps its type":        {"${object.spec.weight}", 1.5},
		"a boolean keeps its type":      {"${!object.spec.paused}", false},
		"a list keeps its type":         {"${object.spec.zones}", []any{"a", "b"}},
		"an object keeps its type":      {"${object.metadata.labels}", map[string]any{"zone": "a"}},
		"a map literal":                 {`'${{"a": 1, "b": {"c": 2}.c}}'`, map[string]any{"a": int64(1), "b": int64(2)}},
		"quotes make no text of it":     {`"${object.spec.replicas}"`, int64(3)},
		"a time":                        {"${now}", "2026-03-01T12:00:00Z"},
		"a time with fractions":         {"${object.spec.startTime}", "2026-03-01T12:00:00.5Z"},
		"a duration":                    {`${duration("90m")}`, "1h30m0s"},
		"text around":                   {"on ${object.spec.nodeName}!", "on node-a!"},
		"two expressions":               {"${key.name}/${object.spec.nodeName}", "w/node-a"},
		"two expressions side by side":  {"${key.name}${key.name}", "ww"},
		"numbers in a text":             {"${object.spec.replicas} of ${object.spec.weight}", "3 of 1.5"},
		"a whole float in a text":       {"${2.0} or ${1e21}", "2 or 1e+21"},
		"a boolean in a text":           {"is ${object.spec.paused}", "is true"},
		"a time in a text":              {"at ${now}", "at 2026-03-01T12:00:00Z"},
		"a duration in a text":          {`for ${duration("600s")}`, "for 10m0s"},
		"an optional in a text":         {`in ${object.metadata.?labels["zone"]}`, "in a"},
		"spaces inside":                 {"${ key.name }", "w"},
		"a brace in a text inside":      {`'${"}"}'`, "}"},
		"an open brace inside":          {`'a ${"{"} b ${''}''} c'`, "a { b } c"},
		"an escaped quote inside":       {`'${"\"}"} b'`, `"} b`},
		"a literal dollar brace":        {"$${key.name}", "${key.name}"},
		"a literal one among others":    {"$${a} ${key.name} $${b}", "${a} w ${b}"},
		"dollars alone":                 {"$5 $ $$ {a} $a", "$5 $ $$ {a} $a"},
		"multi-byte":                    {"ü${key.name}🙂", "üw🙂"},
		"over lines":                    {">-\n  ${key.name\n  + \"b\"} c", "wb c"},
		"a mapping":                     {"{a: 1, b: \"${key.name}\", c: {d: [x, \"${object.spec.replicas}\"]}}", map[string]any{"a": int64(1), "b": "w", "c": map[string]any{"d": []any{"x", int64(3)}}}},
		"a computed key":                {"{\"${params.label}-${key.name}\": 1}", map[string]any{"zone-w": int64(1)}},
		"an empty mapping":              {"{}", map[string]any{}},
		"an empty list":                 {"[]", []any{}},
		"null in a mapping stays":       {"{a: null, b: \"${object.spec.?free}\"}", map[string]any{"a": nil}},
		"none leaves out a field":       {`{a: 1, b: "${object.spec.?selector}", c: "${optional.ofNonZeroValue('')}"}`, map[string]any{"a": int64(1)}},
		"none leaves out a list item":   {`[a, "${optional.none()}", "${optional.of(1)}"]`, []any{"a", int64(1)}},
		"an optional with a value":      {`{a: "${object.spec.?nodeName}"}`, map[string]any{"a": "node-a"}},
		"none deep inside":              {`{a: {b: "${optional.none()}"}}`, map[string]any{"a": map[string]any{}}},
		"an optional of a list":         {`${optional.ofNonZeroValue(object.spec.zones)}`, []any{"a", "b"}},
		"an optional of an empty map":   {`{a: "${optional.ofNonZeroValue(object.spec.limits)}"}`, map[string]any{}},
		"an optional of nothing at all": {`${optional.ofNonZeroValue(object.spec.limits)}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meter := meterOf(t)
			got, err := template(t, env, tc.text).Build(scope, meter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, value.Plain(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestTemplateFailures happen where the expression stands.
func TestTemplateFailures(t *testing.T) {
	t.Parallel()
	env, scope := declared(t), scoped()
	for name, tc := range map[string]struct{ text, want string }{
		"null in a text":       {"a ${dyn(null)}", "f.yaml:1:8: null cannot be written inside a text"},
		"none in a text":       {"a ${object.spec.?selector}", "f.yaml:1:8: null cannot be written inside a text"},
		"a list in a text":     {"a ${dyn(object.spec.zones)}", "f.yaml:1:8: a list or an object cannot be written inside a text"},
		"an absent field":      {"{a: 1, b: [\"${object.status.phase}\"]}", `f.yaml:1:18: the field or key "status" is absent (read it with .? or [?...] where it may be)`},
		"an absent key":        {"a ${object.metadata.labels['x']}", `f.yaml:1:8: the field or key "x" is absent (read it with .? or [?...] where it may be)`},
		"a key that is a list": {"{\"${object.spec.zones}\": 1}", "f.yaml:1:5: a list or an object cannot be written inside a text"},
		"a key that is none":   {"{\"${optional.none()}\": 1}", "f.yaml:1:5: null cannot be written inside a text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := template(t, env, tc.text).Build(scope, meterOf(t))
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestTemplateProblems are found when it is compiled.
func TestTemplateProblems(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for text, want := range map[string]string{
		`"${key.name"`:        "f.yaml:1:4: a ${ has no matching } ($${ writes a literal ${)",
		`'${"a}'`:             "f.yaml:1:4: a ${ has no matching } ($${ writes a literal ${)",
		`a ${key.nam} b`:      `f.yaml:1:8: undefined name "key.nam" (did you mean "key.name"?)`,
		`"${}"`:               "f.yaml:1:7: the expression ends too early",
		`{"${nothing}": 1}`:   `f.yaml:1:8: undefined name "nothing"`,
		`[a, {b: "${1 +}"}]`:  "f.yaml:1:18: the expression ends too early",
		`"${key.name} ${1+}"`: "f.yaml:1:21: the expression ends too early",
	} {
		var problems document.Problems
		env.Template(yaml(t, text), &problems)
		if got := problems.Err(); got == nil || !strings.HasPrefix(got.Error(), want) {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// TestTemplateConstants: what needs no object is computed once, when the
// policy is compiled.
func TestTemplateConstants(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for text, want := range map[string]any{
		`abc`:                                    "abc",
		`{a: [1, {b: c}]}`:                       map[string]any{"a": []any{int64(1), map[string]any{"b": "c"}}},
		`${params.limit * 2}`:                    int64(6),
		`${params.label}/x`:                      "zone/x",
		`{"${params.label}": ""}`:                map[string]any{"zone": ""},
		`${params.labels.map(l, "x/" + l)}`:      []any{"x/zone", "x/rack"},
		`${1 + 1}`:                               int64(2),
		`{a: "$${b}"}`:                           map[string]any{"a": "${b}"},
		`'${params.limit > 2 ? "many" : "few"}'`: "many",
	} {
		constant := template(t, env, text).Constant()
		if diff := cmp.Diff(want, value.Plain(constant)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{`${key.name}`, `{a: 1, b: "${object.spec.paused}"}`, `[1, "${now}"]`, `{"${key.name}": 1}`, `${initial}`} {
		if constant := template(t, env, text).Constant(); constant != nil {
			t.Errorf("%s is taken for the constant %v", text, value.Plain(constant))
		}
	}
}

// TestTemplateOfConstantThatFails: the failure is left for the evaluation, so
// that it is reported with its rule.
func TestTemplateOfConstantThatFails(t *testing.T) {
	t.Parallel()
	failing := template(t, declared(t), `${1 / (params.limit - 3)}`)
	if failing.Constant() != nil {
		t.Fatal("it has a value")
	}
	if _, err := failing.Build(scoped(), meterOf(t)); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("got %v", err)
	}
}

func TestTemplateFields(t *testing.T) {
	t.Parallel()
	env := declared(t)
	fields, err := template(t, env, `{b: "${key.name}", "${params.label}": "${optional.none()}", a: null}`).Fields(scoped(), meterOf(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fields {
		got = append(got, f.Name+" "+jsonOf(f.Value))
	}
	if diff := cmp.Diff([]string{`b "w"`, "zone none", "a null"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTemplateMask: what a merge touches is compared with what is there, and
// nothing else is read for it.
func TestTemplateMask(t *testing.T) {
	t.Parallel()
	env := declared(t)
	leaf := value.KeepAll
	for text, want := range map[string]*value.Mask{
		`{a: "${key.name}", b: {c: "${key.name}", d: 1}}`: {Fields: map[string]*value.Mask{"a": leaf, "b": {Fields: map[string]*value.Mask{"c": leaf, "d": leaf}}}},
		`{a: [1, "${key.name}"]}`:                         {Fields: map[string]*value.Mask{"a": leaf}},
		`{"${key.name}": 1}`:                              leaf,
		`{"${params.label}": "${key.name}"}`:              {Fields: map[string]*value.Mask{"zone": leaf}},
		`{a: {"${key.name}": 1}}`:                         {Fields: map[string]*value.Mask{"a": leaf}},
		`{}`:                                              leaf,
		`${object.spec}`:                                  leaf,
	} {
		if diff := cmp.Diff(want, template(t, env, text).Mask()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestTemplateMentions(t *testing.T) {
	t.Parallel()
	env := declared(t)
	node := yaml(t, `{a: "${variables.x + variables.y}", "${variables.z}": [{b: "$${variables.w} ${inputs.v}"}], c: "${broken +}"}`)
	if diff := cmp.Diff([]string{"z", "x", "y"}, env.TemplateMentions(node, "variables")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := env.Mentions("variables.a.b + size(variables.c) + params.d", "variables"); !cmp.Equal(got, []string{"a", "c"}) {
		t.Errorf("got %v", got)
	}
}

// TestTemplateFits checks what a template gives against the field that it is
// written to.
func TestTemplateFits(t *testing.T) {
	t.Parallel()
	env := declared(t)
	status := widgets.Type.Fields["status"]
	for text, want := range map[string]string{
		`{phase: Ready, message: "${key.name}", ready: true, since: "${now}"}`: "",
		`{phase: "${key.name}", parts: [], ready: null}`:                       "",
		`{since: "2026-03-01T12:00:00Z", parts: null}`:                         "",
		`{parts: [{name: a, size: 1}, {name: "${key.name}"}]}`:                 "",
		`{parts: "${object.spec.parts}"}`:                                      "",
		`{phase: "${variables.any}", ready: "${dyn(1)}"}`:                      "",
		`{message: "${now}"}`:                                                  "",
		`{message: "${optional.none()}", ready: "${object.status.?ready}"}`:    "",
		`{message: "${size(object.spec.zones)} zones"}`:                        "",
		`{phas: Ready}`:              `f.yaml:1:5: status has no field "phas" (did you mean "phase"?)`,
		`{phase: Redy}`:              `f.yaml:1:12: status.phase cannot be "Redy" (one of Pending, Ready)`,
		`{phase: "${'Redy'}"}`:       `f.yaml:1:12: status.phase cannot be "Redy" (one of Pending, Ready)`,
		`{phase: "${params.label}"}`: "",
		`{phase: "${object.spec.replicas > 1 ? 'Ready' : 'Pending'}"}`:                   "",
		`{phase: "${object.spec.replicas > 1 ? 'Ready' : 'Pendin'}"}`:                    `f.yaml:1:52: status.phase cannot be "Pendin" (one of Pending, Ready)`,
		`{phase: "${object.spec.replicas > 1 ? optional.of('Redy') : optional.none()}"}`: `f.yaml:1:54: status.phase cannot be "Redy"`,
		`{phase: "${object.metadata.?labels[?'phase'].orValue('None')}"}`:                `f.yaml:1:57: status.phase cannot be "None"`,
		`{parts: '${[{"size": 1}]}'}`:                                                    "",
		`{since: noon}`:                                                                  `f.yaml:1:12: status.since cannot be "noon" (a date-time such as 2026-03-01T12:00:00Z)`,
		`{parts: [{size: 9223372036854775808}]}`:                                         "f.yaml:1:20: status.parts[].size cannot be 9223372036854775808 (a 64-bit integer)",
		`'${{"since": "noon"}}'`:                                                         `f.yaml:1:4: status.since cannot be "noon"`,
		`{ready: "yes"}`:                                                                 "f.yaml:1:12: status.ready is a boolean, not a string",
		`{ready: "${key.name}"}`:                                                         "f.yaml:1:15: status.ready is a boolean, but the expression gives string",
		`{message: 3}`:                                                                   "f.yaml:1:14: status.message is a string, not an integer (put it in quotes)",
		`{message: "${object.spec.zones}"}`:                                              "f.yaml:1:17: status.message is a string, but the expression gives list(string)",
		`{message: {a: b}}`:                                                              "f.yaml:1:14: status.message is a string, not a mapping",
		`{since: "${object.spec.replicas}"}`:                                             "f.yaml:1:15: status.since is a date-time, but the expression gives int",
		`{parts: {}}`:                                                                    "f.yaml:1:12: status.parts is a list, not a mapping",
		`{parts: [{nam: a}]}`:                                                            `f.yaml:1:14: status.parts[] has no field "nam" (did you mean "name"?)`,
		`{parts: [{size: "${object.spec.weight}"}]}`:                                     "f.yaml:1:23: status.parts[].size is an integer, but the expression gives double",
		`a text`: "f.yaml:1:4: status is an object, not a string",
	} {
		var problems document.Problems
		template(t, env, text).Fit(status, "status", &problems)
		got, code := "", document.Code("")
		for _, p := range problems.List() {
			got, code = p.Error(), p.Code
		}
		if chosen := strings.Contains(text, "?") && strings.Contains(want, "cannot be"); chosen != (code == document.RefusedChoice) || chosen == problems.HasErrors() && got != "" {
			t.Errorf("%s: %v: a text that may not be chosen is no error", text, problems.List())
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestTemplateFitsNumbers(t *testing.T) {
	t.Parallel()
	env := declared(t)
	weight := &schema.Type{Kind: schema.Double}
	for text, fits := range map[string]bool{"1": true, "1.5": true, "${1}": true, "${1.5}": true, "a": false, `${"1"}`: false, "${duration('1s')}": false} {
		var problems document.Problems
		template(t, env, text).Fit(weight, "weight", &problems)
		if problems.HasErrors() == fits {
			t.Errorf("%s: %v", text, problems.List())
		}
	}
}

// TestLiteralsInTemplates: what CEL's parser takes for an expression is found whole in a
// template, whatever its literals and comments have in them.
func TestLiteralsInTemplates(t *testing.T) {
	t.Parallel()
	env, random, parsed := declared(t), rand.New(rand.NewPCG(1, 1)), 0
	quotes := []string{`"`, `'`, `"""`, "'''"}
	prefixes := []string{"", "", "r", "R", "b", "br", "BR"}
	content := []string{"a", "}", "{", `"`, `'`, `\`, `\"`, `\\`, "${", "//", "\n", "ä"}
	for range budget.Of(2000, 40000) {
		var b strings.Builder
		for i := range 1 + random.IntN(3) {
			if separators := []string{" + ", "+", " // it's\n+"}; i > 0 && strings.Contains(b.String(), "//") {
				b.WriteString("+")
			} else if i > 0 {
				b.WriteString(separators[random.IntN(len(separators))])
			}
			quote := quotes[random.IntN(len(quotes))]
			b.WriteString(prefixes[random.IntN(len(prefixes))] + quote)
			for range random.IntN(4) {
				b.WriteString(content[random.IntN(len(content))])
			}
			b.WriteString(quote)
		}
		text := b.String()
		_, wrong := env.base().Parse(text)
		if _, commented := env.base().Parse(text + "+"); wrong.Err() != nil || commented.Err() == nil {
			continue
		}
		parsed++
		pieces, ok := split("x${" + text + "}y")
		if !ok || len(pieces) != 3 || pieces[1].text != text {
			t.Errorf("%s: %v", text, pieces)
		}
	}
	if parsed < 500 {
		t.Errorf("only %d were expressions", parsed)
	}
}
