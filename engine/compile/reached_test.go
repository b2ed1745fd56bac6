package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// TestParamsAreTried: a param with which a call fails in every evaluation is rejected, unless
// params alone keep the call from being reached.
func TestParamsAreTried(t *testing.T) {
	t.Parallel()
	const (
		params = "  params: {x: \"\", y: UTC, on: false, list: [], n: 0, must: {default: \"\", required: true}}\n"
		given  = `the value "z" given for the param p.x: `
		uses   = `${key.name} ${string(int(params.x))}`
		log    = "do: [{log: {message: '" + uses + "'}}]"
	)
	when := func(expression string) string {
		return "  rules: [{name: r, when: '" + expression + "', do: [{log: {message: m}}]}]\n"
	}
	for name, tc := range map[string]struct {
		spec, param, value string
		want               string // part of the error; "" is none
	}{
		"a window":                     {when(`time.within(params.x, params.y)`), "x", "z", given + `time.within: "z" is not a time of the week`},
		"a zone that does not count":   {when(`params.x == "" || time.within("Mon 08:00-09:00", params.y)`), "y", "z", ""},
		"a zone":                       {when(`params.x != "" || time.within("Mon 08:00-09:00", params.y)`), "y", "z", `given for the param p.y: time.within: "z" is not a time zone`},
		"a zone of a time":             {when(`object.metadata.creationTimestamp.getHours(params.x) > 1 || object.metadata.name == "a"`), "x", "z", given},
		"a schedule":                   {when(`cron.last(params.x, params.y) > timestamp(object.metadata.creationTimestamp)`), "x", "z", given + "cron.last"},
		"a schedule beside another":    {when(`cron.last(params.x, object.metadata.name) < cron.last("1 1 * * *", "UTC")`), "x", "z", given + "cron.last"},
		"a period":                     {when(`elapsed(object.metadata.creationTimestamp, duration(params.x))`), "x", "z", given},
		"a time":                       {when(`object.metadata.creationTimestamp > timestamp(params.x)`), "x", "z", given},
		"a pattern":                    {when(`pattern.search(params.x, object.metadata.name)`), "x", "(", "p.x: pattern.search: error parsing regexp"},
		"a selector":                   {when(`labels.matches(params.x, object.metadata.?labels)`), "x", "a==b==c", "p.x: labels.matches: "},
		"a quantity":                   {when(`quantity(object.status.capacity["cpu"]).isLessThan(quantity(params.x))`), "x", "z", given + "quantities must match"},
		"a right quantity":             {when(`quantity(object.status.capacity["cpu"]).isLessThan(quantity(params.x))`), "x", "1", ""},
		"a divisor":                    {when(`size(object.metadata.name) / params.n > 1`), "n", "0", `the value "0" given for the param p.n: division by zero`},
		"an empty one":                 {when(`params.x == "" || quantity(params.x).isLessThan(quantity("1"))`), "n", "1", ""},
		"not an empty one":             {when(`params.x == "" || quantity(params.x).isLessThan(quantity("1"))`), "x", "z", given},
		"empty behind another part":    {when(`object.metadata.name == "a" && params.x != "" && quantity(params.x).isLessThan(quantity("1"))`), "n", "1", ""},
		"off behind the call":          {when(`int(params.x) > 1 && object.metadata.name == "a" && params.on`), "x", "z", ""},
		"not of what is off":           {when(`!(params.on && object.metadata.name == "a") || int(params.x) > 1`), "x", "z", ""},
		"a branch that is not taken":   {when(`object.metadata.name == (params.on ? string(int(params.x)) : key.name)`), "x", "z", ""},
		"a branch that is taken":       {when(`object.metadata.name == (params.on ? key.name : string(int(params.x)))`), "x", "z", given},
		"an unknown condition":         {when(`object.metadata.name == "a" || int(params.x) > 1`), "x", "z", given},
		"a param without a value":      {when(`int(params.must) > 1`), "n", "1", ""},
		"one that must be set, and is": {when(`int(params.must) > 1`), "must", "z", `"z" given for the param p.must`},
		"a default":                    {when(`int(params.y) > 1`), "n", "1", "with this value of params.y it would fail in every evaluation"},
		"a rule that is off":           {"  rules: [{name: r, when: params.on, " + log + "}]\n", "x", "z", ""},
		"a rule of nothing":            {"  rules: [{name: r, forEach: params.list, as: i, " + log + "}]\n", "x", "z", ""},
		"a rule":                       {"  rules: [{name: r, " + log + "}]\n", "x", "z", given},
		"a row that is off":            {"  rules: [{name: r, cases: [{name: a, when: params.on, " + log + "}, {name: b, do: [{log: {message: m}}]}]}]\n", "x", "z", ""},
		"a row":                        {"  rules: [{name: r, cases: [{name: a, when: '!params.on', " + log + "}, {name: b, do: [{log: {message: m}}]}]}]\n", "x", "z", given},
		"a variable":                   {"  variables: [{name: v, expression: int(params.x)}]\n" + when("variables.v > size(key.name)"), "x", "z", given},
		"a variable that nobody asks":  {"  variables: [{name: v, expression: int(params.x)}]\n" + when("params.on && variables.v > size(key.name)"), "x", "z", ""},
		"a variable with its value":    {"  variables: [{name: v, expression: params.x}]\n" + when("int(variables.v) > size(key.name)"), "x", "z", given},
		"a variable that is off":       {"  variables: [{name: v, expression: 'params.on && object.metadata.name == \"a\"'}]\n  rules: [{name: r, when: variables.v, " + log + "}]\n", "x", "z", ""},
		"a collection":                 {"  variables: [{name: v, forEach: 'object.spec.?podCIDRs.orValue([])', as: c, value: '" + uses + "'}]\n" + when("size(variables.v) > 1"), "x", "z", given},
		"a collection of nothing":      {"  variables: [{name: v, forEach: params.list, as: c, value: '" + uses + "'}]\n" + when("size(variables.v) > 1"), "x", "z", ""},
		"a local":                      {"  rules: [{name: r, variables: [{name: l, expression: int(params.x)}], do: [{log: {message: '${string(l)}'}}]}]\n", "x", "z", given},
		"an input":                     {"  inputs: [{name: pods, apiVersion: v1, kind: Pod, where: 'labels.matches(params.x, item.metadata.?labels)'}]\n" + when("size(inputs.pods) > 1"), "x", "a==b==c", "p.x: labels.matches: "},
		"a child that is off":          {"  children: [{name: c, when: params.on, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${key.name}', namespace: d}, data: {a: '" + uses + "'}}}]\n", "x", "z", ""},
		"a child":                      {"  children: [{name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${key.name}', namespace: d}, data: {a: '" + uses + "'}}}]\n", "x", "z", given},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+params+tc.spec, PolicyOptions{Params: TypedOverrides(map[string]map[string]string{"p": {tc.param: tc.value}}, "--param")["p"]})
			err := document.Join(problems)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Count(err.Error(), "given for") > 1) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
