package cel

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/widgets"
)

// TestLibraries: what docs/language.md promises can be called.
func TestLibraries(t *testing.T) {
	t.Parallel()
	env, scope := declared(t), scoped()
	for source, want := range map[string]any{
		// Kubernetes.
		`"a-b-c".find("b.c")`:                             "b-c",
		`"a1b22".findAll("[0-9]+")`:                       []any{"1", "22"},
		`[1, 2, 3].isSorted() && [1, 2].sum() == 3`:       true,
		`[[3, 1].min(), [3, 1].max()]`:                    []any{int64(1), int64(3)},
		`["a", "b", "a"].lastIndexOf("a")`:                int64(2),
		`quantity("1Gi").isGreaterThan(quantity("1G"))`:   true,
		`quantity("1Ki").asInteger()`:                     int64(1024),
		`ip("10.0.0.1").family()`:                         int64(4),
		`cidr("10.0.0.0/8").containsIP(ip("10.1.2.3"))`:   true,
		`url("https://a:8/b").getHostname()`:              "a",
		`semver("1.10.0").isGreaterThan(semver("1.9.0"))`: true,
		`format.dns1123Label().validate("A").hasValue()`:  true,
		// Strings.
		`base64.encode(b"\xff") + base64.encode("hello")`:                     "/w==aGVsbG8=",
		`base64.decode("aGVsbG8") + base64.decode(base64.encode(b"hello"))`:   "hellohello",
		`"a,b".split(",").join("+")`:                                          "a+b",
		`" x ".trim().replace("x", "y").upperAscii()`:                         "Y",
		`"abc".substring(1).charAt(0)`:                                        "b",
		`"%s has %d at %.1f".format(["a", 2, 3.0])`:                           "a has 2 at 3.0",
		`"abc".startsWith("a") && "abc".endsWith("c") && "abc".contains("b")`: true,
		`"kernel-5.10".matches("^kernel-5")`:                                  true,
		// Sets, math, optionals, comprehensions with two variables, lists.
		`sets.contains([1, 2], [1]) && sets.intersects([1], [1]) && sets.equivalent([1, 1], [1])`: true,
		`math.greatest(1, 2) + math.least(3, 4) + math.abs(-1)`:                                   int64(6),
		`optional.of(1).orValue(2) + optional.none().orValue(2)`:                                  int64(3),
		`optional.ofNonZeroValue("").or(optional.of("x")).value()`:                                "x",
		`optional.of(1).optMap(x, x + 1).value()`:                                                 int64(2),
		`[1, 2].transformList(i, v, i * v)`:                                                       []any{int64(0), int64(2)},
		`object.metadata.annotations.map(k, k)`:                                                   []any{"a", "b", "c"}, // sorted
		`object.metadata.annotations.transformList(k, v, v)`:                                      []any{"1", "2", "3"},
		`{"a": 1}.transformMap(k, v, v + 1)`:                                                      map[string]any{"a": int64(2)},
		`["a"].transformMapEntry(i, v, {v: i})`:                                                   map[string]any{"a": int64(0)},
		`{"a": 1}.exists(k, v, k == "a" && v == 1)`:                                               true,
		`[2, 1, 2].distinct().sort()`:                                                             []any{int64(1), int64(2)},
		`[{"n": 2}, {"n": 1}].sortBy(x, x.n)[0].n`:                                                int64(1),
		`[[1], [2]].flatten().slice(0, 1)`:                                                        []any{int64(1)},
		`lists.range(3)`:                                                                          []any{int64(0), int64(1), int64(2)},
		`[1, 2].first().value() + [1, 2].last().value()`:                                          int64(3),
		`[].first().hasValue()`:                                                                   false,
		`[[1, 2][?5].hasValue(), {"a": 1}[?"a"].hasValue()]`:                                      []any{false, true},
		`countDistinct([1, 2, 3, 4], x, x % 2)`:                                                   int64(2),
		`[1, 2, 3].fold(sum, 0, x, sum + x)`:                                                      int64(6),
		`["b", "abc"].fold(best, "", x, size(x) > size(best) ? x : best)`:                         "abc",
		`[3, 1, 2].fold(acc, {"used": dyn(0), "took": dyn([0])}, x, acc.used + x <= 5 ? {"used": dyn(acc.used + x), "took": dyn(acc.took + [x])} : acc).took`: []any{int64(0), int64(3), int64(1)},
		`[].fold(sum, 7, x, 8)`: int64(7),
		`[1, 2].fold(acc, [], x, (acc + [0]).size() > 9 ? acc : acc + [x])`:                    []any{int64(1), int64(2)},
		`[1, 2].fold(acc, [0], x, acc + [x]).map(x, [0] + [x])[2]`:                             []any{int64(0), int64(2)},
		`[[1, 2].fold(acc, [0], x, acc + [x])].map(l, [3, 4].map(x, l + [x]))[0].map(l, l[3])`: []any{int64(3), int64(4)},
		`[1, 2].fold(seen, [0], x, x in seen ? seen : seen + [x])`:                             []any{int64(0), int64(1), int64(2)},
		// Conditions, of lists and of optional ones, typed and not.
		`conditions.isTrue(object.?status.conditions, "Ready")`:                                                           false,
		`conditions.isTrue([{"type": "Ready", "status": "True"}], "Ready")`:                                               true,
		`conditions.isTrue(optional.of([{"type": "Ready", "status": "True"}]), "Ready")`:                                  true,
		`conditions.isTrue(dyn([{"type": "Ready", "status": "False"}]), "Ready")`:                                         false,
		`conditions.find([{"type": "A"}, {"type": "Ready", "reason": "x"}], "Ready").?reason.orValue("")`:                 "x",
		`conditions.find(dyn({}).?status.conditions, "Ready").hasValue()`:                                                 false,
		`conditions.since([{"type": "Ready", "lastTransitionTime": "2026-03-01T12:00:00Z"}], "Ready").value().getHours()`: int64(12),
		`conditions.find(object.?status.conditions, "Ready").observedGeneration.orValue(0) + 1`:                           int64(1),
		// Objects.
		`object.spec.replicas + 1`:         int64(4),
		`object.metadata.labels.zone`:      "a",
		`object.metadata.labels.map(k, k)`: []any{"zone"},
		"object.metadata.labels.`zone`":    "a",
		`object.spec.startTime + duration("1h") > timestamp("2026-03-01T12:30:00Z")`: true,
		`object.spec.startTime.getHours()`:                                           int64(12),
		`has(object.spec.free)`:                                                      false,
		`has(object.spec.paused) && has(object.metadata.labels)`:                     true,
		`object.?status.phase.orValue("none")`:                                       "none",
		`object.spec.limits == {}`:                                                   true,
		`object.spec.zones == ["a", "b"] && ["a", "b"] == object.spec.zones`:         true,
		`object.metadata.labels == {"zone": "a"}`:                                    true,
		`dyn(object.spec.replicas) == 3.0`:                                           true,
		`false && object.status.phase == "" || true`:                                 true,
		`[1, 2].exists(x, x == 1 || object.status.phase == "a")`:                     true,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, evaluated(t, env, source, scope)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRunTimeErrors are worded for people and name the place.
func TestRunTimeErrors(t *testing.T) {
	t.Parallel()
	env, scope := declared(t), scoped()
	scope["variables.any"] = value.OfString("x")
	scope[CallVariable] = CallValue(&expr.Call{})
	for source, want := range map[string]string{
		`object.status.phase`:                                           `the field or key "status" is absent`,
		`object.spec.free`:                                              `the field or key "free" is absent`,
		`object.metadata.labels["x"]`:                                   `the field or key "x" is absent`,
		`{"a": 1}[object.spec.nodeName + "b"]`:                          `the field or key "node-ab" is absent`,
		`[1][params.limit + 2]`:                                         "index out of bounds: 5",
		`object.?status.phase.value()`:                                  "optional.none() dereference",
		`1 / (params.limit - 3)`:                                        "division by zero",
		`9223372036854775807 + params.limit`:                            "integer overflow",
		`quantity(dyn(object.spec.replicas)).asInteger()`:               "quantity(x) takes a text, and this is none; quantity.value(x) and quantity.parse(x) take numbers as well",
		`int(object.spec.nodeName)`:                                     "this text is no whole number of 64 bits; test it before",
		`uint(object.spec.nodeName)`:                                    "this text is no whole number of 64 bits that is not negative",
		`double(object.spec.nodeName)`:                                  "this text is no number",
		`bool(object.spec.nodeName)`:                                    "this text is neither true nor false",
		`elapsed(dyn(object.metadata.name), duration("1h"))`:            "no such overload: elapsed(string",
		`duration(object.spec.nodeName)`:                                "this text is no duration; units are",
		`timestamp(object.spec.nodeName)`:                               "this is no time; a text as in RFC 3339, 2026-03-01T12:00:00Z, or seconds since 1970, until the year 9999",
		`cidr("10.0.0.0/8").containsIP(object.spec.nodeName)`:           `"node-a" is no IP address`,
		`quantity(object.spec.nodeName)`:                                "quantities must match the regular expression",
		`[1].slice(0, size(object.spec.nodeName))`:                      "list is length 1; math.least(n, size(list))",
		`variables.any + 1`:                                             "a value has another type than the expression expects (no such overload)",
		`variables.any.phase`:                                           `the field or key "phase" is absent`,
		`variables.any > 3`:                                             "a value has another type than the expression expects (no such overload)",
		`json.decode("{" + object.spec.nodeName)`:                       "json.decode: ",
		`labels.matches("a in" + object.?status.phase.orValue(""), {})`: "labels.matches: unable to parse requirement: found '' expected: '('",
		`{1: 2}`:                               "a map's keys must be strings, not int",
		`object.status.phase == "a" || false`:  `the field or key "status" is absent`,
		`[1, 2].all(x, object.status.ready)`:   `the field or key "status" is absent`,
		`[1, 2].map(x, object.status.ready)`:   `the field or key "status" is absent`,
		`names.limit(object.spec.nodeName, 3)`: "names.limit: the limit must be more than 11",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			var problems document.Problems
			node := yaml(t, "'"+strings.ReplaceAll(source, "'", "''")+"'")
			p := env.Compile(Text{Node: node, Source: node.Text}, &problems)
			if p == nil {
				t.Fatal(problems.Err())
			}
			_, _, err := run(t, p, scope)
			if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1:5: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want f.yaml:1:5: %s", err, want)
			}
		})
	}
}

// TestCheckedErrors are found before anything runs.
func TestCheckedErrors(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for source, want := range map[string]string{
		`object.spec.nodName`:                       `no field "nodName" here (did you mean "nodeName"?)`,
		`object.spec.parts[0].siez`:                 `no field "siez" here (did you mean "size"?)`,
		`has(object.spec.replcas)`:                  `no field "replcas" here (did you mean "replicas"?)`,
		`object.?spec.replcas`:                      `no field "replcas" here (did you mean "replicas"?)`,
		`object.replicas`:                           `no field "replicas" here (there is .spec.replicas of Widget)`,
		`object.spec.?status`:                       `no field "status" here (there is .status of Widget`,
		`inputs.pool.metadata.lables`:               `no field "lables" here (did you mean "labels"?)`,
		`objct.spec`:                                `undefined name "objct" (did you mean "object"?)`,
		`inputs.widget`:                             `undefined name "inputs.widget" (did you mean "inputs.widgets"?)`,
		`variables.nmes`:                            `undefined name "variables.nmes" (did you mean "variables.names"?)`,
		`key.nam`:                                   `undefined name "key.nam" (did you mean "key.name"?)`,
		`nothing`:                                   `undefined name "nothing"`,
		`key.name == Running`:                       `undefined name "Running" (a text is written in quotes: "Running")`,
		`object.spec.replicas + "1"`:                "found no matching overload for '+' applied to '(int, string)'",
		`object.spec.startTime > "2026"`:            "found no matching overload for '>' applied to '(timestamp, string)'",
		`object.spec.replicas == "1"`:               "found no matching overload for '==' applied to '(int, string)'",
		`[1, "a"]`:                                  "expected type 'int' but found 'string'",
		`object.spec.paused ? 1 : "a"`:              "found no matching overload for '? :'",
		`grace.holds("2026", duration(1))`:          "found no matching overload",
		`object.spec.nodeName.exists(x, x)`:         "cannot be range of a comprehension",
		`conditions.isTrue(object.spec.zones, "a")`: "a list of conditions is needed, such as object.?status.conditions, not list(string)",
		`conditions.find(object.?status, "Ready")`:  "it is called as conditions.find(list(T) or optional, string) -> optional(T)",
		`conditions.find(object.?status.conditions, "Ready").?resaon`: `no field "resaon" here (did you mean "reason"?)`,
		`"a".frobnicate()`:            `no function is called "frobnicate"`,
		`${object}`:                   "an expression stands here as it is, without ${ }",
		`object.spec.`:                "is not expected here",
		`has(object)`:                 "invalid argument to has() macro",
		`"a" in object.spec.nodeName`: "found no matching overload for 'in' applied to '(string, string)'",
		`@call`:                       `"@" is not expected here`,
		`Widget{spec: 1}`:             "expected type",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			if p, got := wrong(env, source); p != nil || !strings.Contains(got, want) {
				t.Errorf("accepted is %v: %q, want %q", p != nil, got, want)
			}
		})
	}
}

// TestUnknownFunctions: a call of a function that does not exist is one error, which says
// what was meant.
func TestUnknownFunctions(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for source, want := range map[string]string{
		`object.spec.zones.revers()`:                  `no function is called "revers" (did you mean "reverse"?)`,
		`object.spec.zones.filtr(z, z == "a")`:        `no function is called "filtr" (did you mean "filter"?)`,
		`object.spec.zones.map(z, z, z, z)`:           `map takes other arguments (it is called as list.map(x, e), or list.map(x, condition, e))`,
		`object.spec.zones.map(z.name)`:               `map takes other arguments (it is called as list.map(x, e), or list.map(x, condition, e))`,
		`cel.bind(z, object.spec.zones, size(z) > 0)`: `no function is called "cel.bind" (write a variable, of the policy or of the rule, and read its name)`,
		`math.max(1, 2)`:                              `no function is called "math.max" (write math.greatest(x, y), or list.max())`,
		`Math.max(1, 2)`:                              `no function is called "Math.max" (write math.greatest(x, y), or list.max())`,
		`math.greates(1, 2)`:                          `no function is called "math.greates" (did you mean "math.greatest"?)`,
		`mth.greatest(1, 2)`:                          `no function is called "mth.greatest" (did you mean "math.greatest"?)`,
		`strings.join(object.spec.zones, ",")`:        `no function is called "strings.join" (join is called on a value: x.join(...))`,
		`condition.isTrue(object.status, "Ready")`:    `no function is called "condition.isTrue" (did you mean "conditions.isTrue"?)`,
		`foo.contains("x")`:                           `undefined name "foo" (names here are initial, inputs, item, key, memory, now, object, params, variables)`,
		`itm.contains("x")`:                           `undefined name "itm" (did you mean "item"?)`,
		`isTrue(object.status, "Ready")`:              `no function is called "isTrue" (write conditions.isTrue)`,
		`labels.match(object.spec, object.metadata)`:  `no function is called "labels.match" (did you mean "labels.matches"?)`,
		`Int(key.name)`:                               `no function is called "Int" (did you mean "int"?)`,
		`object()`:                                    `no function is called "object" (object is a value, not a function: leave out the brackets)`,
		`object.spec.?zones.get()`:                    `no function is called "get" (write m[?key].orValue(default) for a key of a map, x.orValue(default) for an optional)`,
		`"a".len() > 0 || nothing`:                    `no function is called "len" (write size(x))` + "\n" + `undefined name "nothing" (names here are initial, inputs, item, key, memory, now, object, params, variables)`,
	} {
		if _, got := wrong(env, source); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

// TestHabits: what authors write out of habit, and what they are told.
func TestHabits(t *testing.T) {
	t.Parallel()
	app := &schema.Type{Kind: schema.Object, Name: "example.com/v1/App", Fields: map[string]*schema.Type{
		"in": {Kind: schema.String}, "foo-bar": {Kind: schema.String}, "namespace": {Kind: schema.String}, "a.b/c": {Kind: schema.String}, "time": {Kind: schema.Time},
	}}
	base := declared(t)
	env, err := base.With(Var{"app", base.TypeOf(app)})
	if err != nil {
		t.Fatal(err)
	}
	const slashHint = `a text has no fields: size(x) is its length; a key with dots or / in it stands in brackets: labels["example.com/name"]`
	const names = "app, initial, inputs, item, key, memory, now, object, params, variables"
	for source, want := range map[string]string{
		`object.status?.phase == "Ready"`: `"?." is no operator of CEL (a field that may be absent is read by .?, as in object.?status.?phase.orValue(""))`,
		`item?.status.phase`:              `"?." is no operator of CEL (a field that may be absent is read by .?, as in object.?status.?phase.orValue(""))`,
		`key.name =~ "^a"`:                `"=~" is no operator of CEL (x.matches("literal"), or pattern.search(pattern, text))`,
		`object.spec.replicas in 1..3`:    `".." is no operator of CEL (x >= 1 && x <= 3, or lists.range(n))`,
		`1 in (1, 3)`:                     `( ) make no list (x in [1, 3])`,
		`key.name === "a"`:                `"===" and "!==" are no operators of CEL (== and != compare values and types)`,
		`1 between 1 and 3`:               `"between" is no operator of CEL (x >= 1 && x <= 3)`,
		`key.name[0:3] == "a"`:            `[a:b] is no operator of CEL (text.substring(0, 3), list.slice(0, 3))`,
		`1h > 2h`:                         `this is no value of CEL (a period is a duration: duration("1h"))`,
		`if 1 > 2 then true else false`:   `this is no condition of CEL (condition ? a : b, or x.orValue(default) of an optional)`,
		`key.name | upper == "A"`:         `"|" is no operator of CEL (a function is called on a value: x.lowerAscii(); || is or)`,
		`toYaml(object) == "a"`:           `no function is called "toYaml" (write json.encode(x))`,
		`"a" == nope || "b" == nope`:      `undefined name "nope" (names here are ` + names + `)`,
		`variables["x"]`:                  `undefined name "variables" (it is read with a name: variables.NAME)`,
		`key.name like "a"`:               `"like" is no operator of CEL (x.matches("literal"), x.contains(y), x.startsWith(y))`,
		`random(10)`:                      `no function is called "random" (write ` + noRandom + `)`,
		`lookup("v1", "Pod", "a", "b")`:   `no function is called "lookup" (write ` + asInput + `)`,
		`children.x > 1`:                  `undefined name "children.x" (there are no children here: the policy declares none, or none before this place)`,
		`object.metadata.labels.app.kubernetes.io/name == "a"`: "type 'string' does not support field selection (" + slashHint + `)`,
		`object.metadata.labels.app/role == "a"`:               `undefined name "role" (` + slashHint + `)`,
		`not (key.name == "a")`:                                `no function is called "not" (write !x)`,
		`not key.name == "a"`:                                  `"not" is no operator of CEL (&&, || and ! are)`,
		`schema.spec.role == "x"`:                              `undefined name "schema" (names here are ` + names + `)`,
		`object.metadata.labels.foo-bar`:                       "undefined name \"bar\" (a field with - in its name is written in backticks, as in x.`foo-bar`, a key in brackets, as in labels[\"foo-bar\"])",
		`app["foo-bar"]`:                                       "found no matching overload for '[]' applied to '(example.com/v1/App, string)' (an object has fields, not keys: x.name, in backticks if it is no word: x.`foo-bar`)",
		`app.in == "x"`:                                        "\"in\" is a word of CEL (a field with this name is written in backticks: .`in`)",
		`app.__namespace__`:                                    "no field \"__namespace__\" here (it is written in backticks: .`namespace`)",
		`app.__in__`:                                           "no field \"__in__\" here (it is written in backticks: .`in`)",
		`app.foo__dash__bar`:                                   "no field \"foo__dash__bar\" here (it is written in backticks: .`foo-bar`)",
		`app.a__dot__b__slash__c`:                              "no field \"a__dot__b__slash__c\" here (it is written in backticks: .`a.b/c`)",
		`app.foo-1`:                                            "no field \"foo\" here (it is written in backticks: .`foo-bar`)",
		"app.`in` + app.`foo-bar` + app.`a.b/c` + app.`namespace` + app.namespace": "",
		`-app.time`:                       `found no matching overload for '-' applied to '(timestamp)' (a time has no opposite: -int(x), its seconds, puts the latest first)`,
		`key.name == "${params.label}-x"`: `${params.label} stays as it is in a text of an expression (join texts, as in params.name + "-x"; only templates have ${ })`,
		`key.name == "${HOME}-x"`:         "",
		`timestamp("a" + key.name)`:       "",
		`timestamp("a")`:                  "this is no time (a text as in RFC 3339, 2026-03-01T12:00:00Z, or seconds since 1970, until the year 9999)",
		`timestamp(string("a"))`:          "this is no time; a text as in RFC 3339, 2026-03-01T12:00:00Z, or seconds since 1970, until the year 9999 (it is written out, so this would fail in every evaluation)",
	} {
		var problems document.Problems
		env.Compile(Text{Source: source}, &problems)
		var got []string
		for _, p := range problems.List() {
			got = append(got, p.Error())
		}
		if got := strings.Join(got, "\n"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", source, got, want)
		}
	}
	if _, got := wrong(baseOf(t), "item.x == 1"); got != `undefined name "item" (item is the item of a forEach, or of an input in its where, keyBy, groupBy and orderBy)` {
		t.Error(got)
	}
}

// baseOf is an environment of an object without an item.
func baseOf(t *testing.T) *Env {
	t.Helper()
	base, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	env, err := base.With(Var{"object", base.TypeOf(widgets.Type)})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// TestMismatchHints say how the types that were given go together, or what else to call.
func TestMismatchHints(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for source, want := range map[string]string{
		`object.spec.nodeName[0]`:           `x.substring(0, 1)`,
		`"a" in object.spec.nodeName`:       `x.contains(y)`,
		`object.spec.zones.contains("a")`:   `e in list`,
		`string(object.spec.zones)`:         `json.encode(x)`,
		`string({"a": 1})`:                  `json.encode(x)`,
		`{"a": 1} + {"b": 2}`:               `maps.merge(a, b)`,
		`object.spec.zones + "a"`:           `list + [x]`,
		`quantity(object.spec.replicas)`:    `quantity.value(x)`,
		`object.spec.zones.join(",", 1)`:    `it is called as list(string).join() -> string, or list(string).join(string) -> string`,
		`object.spec.?zones.orValue("")`:    `the default has the type of the value`,
		`object.spec.nodeName == true`:      `a text is compared with a text in quotes`,
		`!object.spec.replicas`:             `! takes true or false`,
		`object.spec.paused ? 1 : "a"`:      `both results have one type`,
		`object.spec.startTime > "2026"`:    `a time is a timestamp`,
		`elapsed(key.name)`:                 `it is called as elapsed(`,
		`spec.nodeName == ""`:               `write item.spec`,
		`[1, 2]["a"]`:                       `a list has items by number`,
		`1 < object.spec.replicas < 3`:      `a < x && x < b`,
		`{"a": "b"} == {"a": 1}`:            `the values of both maps have one type`,
		`["a"] != [1]`:                      `the items of both lists have one type`,
		`object.spec.replicas && true`:      `x != 0`,
		`object.spec.replicas + "1"`:        `int(text) or string(number)`,
		`object.spec.zones[0] == 1`:         `int(text) or string(number)`,
		`"%s" % 1`:                          `"...".format([...])`,
		`duration(object.spec.replicas)`:    `duration(string(n) + "s")`,
		`"%s".format(object.spec.replicas)`: `x.format([a, b])`,
		`elapsed("2026", duration("1h"))`:   `timestamp(text)`,
	} {
		if _, got := wrong(env, source); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

// TestNamesThatAreNotAlike: a short name is like no other only because both begin with the
// same qualifier.
func TestNamesThatAreNotAlike(t *testing.T) {
	t.Parallel()
	if _, got := wrong(declared(t), `variables.x`); strings.Contains(got, "did you mean") {
		t.Errorf("got %q", got)
	}
}

// TestTimedFunctions get the evaluation's time and tell when they change.
func TestTimedFunctions(t *testing.T) {
	t.Parallel()
	env, scope := declared(t), scoped()
	since := time.Date(2026, 3, 1, 12, 0, 0, 500_000_000, time.UTC) // object.spec.startTime
	for name, tc := range map[string]struct {
		source string
		now    time.Duration // after since
		want   bool
		flip   time.Duration // after since; 0 is none
	}{
		"a grace period that runs":    {`grace.holds(object.spec.startTime, duration("1h"))`, time.Minute, true, time.Hour},
		"a grace period that is over": {`grace.holds(object.spec.startTime, duration("1h"))`, time.Hour, false, 0},
		"not over yet":                {`elapsed(object.spec.startTime, duration("1h"))`, time.Minute, false, time.Hour},
		"over":                        {`elapsed(object.spec.startTime, duration("1h"))`, time.Hour, true, 0},
		"the earlier of two":          {`grace.holds(object.spec.startTime, duration("2h")) && grace.holds(object.spec.startTime, duration("1h"))`, 0, true, time.Hour},
		"one that is not asked":       {`object.spec.replicas > 3 && grace.holds(object.spec.startTime, duration("1h"))`, 0, false, 0},
		"inside a loop":               {`[1, 2].all(h, grace.holds(object.spec.startTime, duration(string(h) + "h")))`, 0, true, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var flip time.Time
			call := &expr.Call{Now: since.Add(tc.now), Flip: func(at time.Time) {
				if flip.IsZero() || at.Before(flip) {
					flip = at
				}
			}}
			inner := names{CallVariable: CallValue(call)}
			maps.Copy(inner, scope)
			if got := evaluated(t, env, tc.source, inner); got != tc.want {
				t.Errorf("it gives %v", got)
			}
			if want := since.Add(tc.flip); tc.flip == 0 && !flip.IsZero() || tc.flip != 0 && !flip.Equal(want) {
				t.Errorf("it changes at %v, want %v", flip, want)
			}
		})
	}
}

// TestFailureOfAVariable: an expression that reads a variable that failed
// fails with that failure, whose place says more.
func TestFailureOfAVariable(t *testing.T) {
	t.Parallel()
	env := declared(t)
	inner := &expr.Failure{At: document.Position{File: "f.yaml", Line: 3, Column: 7}, Err: errors.New("why")}
	_, _, err := run(t, compiled(t, env, `variables.any == 1 ? "a" : "b"`), names{"variables.any": ErrorValue(inner)})
	var got *expr.Failure
	if !errors.As(err, &got) || got.Error() != "f.yaml:3:7: why" {
		t.Errorf("got %v", err)
	}
	if ErrorValue(nil) != value.Null {
		t.Error("no error is null")
	}
}

// TestProgramsAreShared: one program may run in many evaluations at once.
func TestProgramsAreShared(t *testing.T) {
	t.Parallel()
	p := compiled(t, declared(t), `object.spec.zones.map(z, z + "!").join(",") + string(object.spec.replicas)`)
	scope, done := scoped(), make(chan string)
	for range 8 {
		go func() {
			meter := expr.NewMeter(t.Context())
			defer meter.Close()
			v, err := p.Eval(scope, meter)
			text, _ := value.Str(v)
			if err != nil {
				text = err.Error()
			}
			done <- text
		}()
	}
	for range 8 {
		if got := <-done; got != "a!,b!3" {
			t.Errorf("got %s", got)
		}
	}
}
