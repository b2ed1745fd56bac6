package cel

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// refused are calls with a constant that is wrong in every evaluation, by the function:
// with constants only, and with one among arguments that only an evaluation knows.
var refused = map[string][]string{
	"_/_": {`1 / 0`, `params.limit / 0`}, "_%_": {`1 % 0`, `params.limit % 0`}, "_*_": {`9223372036854775807 * 2`}, "_+_": {`9223372036854775807 + 1`},
	"_-_": {`-9223372036854775807 - 2`}, "-_": {`-int("-9223372036854775808")`}, "_[_]": {`[1, 2][2]`, `{"a": 1}["b"]`},
	"asInteger":     {`quantity("1.5").asInteger()`},
	"base64.decode": {`base64.decode("!")`}, "bool": {`bool("x")`}, "charAt": {`"abc".charAt(4)`, `key.name.charAt(-1)`},
	"cidr": {`cidr("10.0.0.0/99")`}, "containsCIDR": {`cidr("10.0.0.0/8").containsCIDR("x")`, `cidr(key.name).containsCIDR("x")`},
	"containsIP":     {`cidr("10.0.0.0/8").containsIP("x")`},
	"conditions.set": {`conditions.set([], {"status": "True"}, now)`, `conditions.set(object.?status.conditions, {"type": ""}, now)`},
	"cron.last":      {`cron.last("0 3 * *", "Etc/UTC")`, `cron.last("0 3 * *", key.name)`, `cron.last(key.name, "Europe/Bonn")`},
	"cron.next":      {`cron.next("0 3 * *", "Etc/UTC")`, `cron.next("0 3 * *", key.name)`, `cron.next(key.name, "Europe/Bonn")`},
	"double":         {`double("x")`}, "duration": {`duration("x")`}, "find": {`"a".find("(")`, `key.name.find("(")`}, "findAll": {`"a".findAll("(")`, `key.name.findAll("(")`},
	"flatten": {`[[1]].flatten(-1)`, `variables.names.flatten(-1)`}, "format": {`"%d".format(["x"])`, `"%y".format([key.name])`},
	"getDate": {`now.getDate("Europe/Bonn")`}, "getDayOfMonth": {`now.getDayOfMonth("Europe/Bonn")`}, "getDayOfWeek": {`now.getDayOfWeek("Europe/Bonn")`},
	"getDayOfYear": {`now.getDayOfYear("Europe/Bonn")`}, "getFullYear": {`now.getFullYear("Europe/Bonn")`}, "getHours": {`now.getHours("Europe/Bonn")`},
	"getMilliseconds": {`now.getMilliseconds("Europe/Bonn")`}, "getMinutes": {`now.getMinutes("Europe/Bonn")`}, "getMonth": {`now.getMonth("Europe/Bonn")`},
	"getSeconds": {`now.getSeconds("Europe/Bonn")`}, "indexOf": {`"abc".indexOf("a", -1)`, `key.name.indexOf("a", -1)`}, "int": {`int("x")`}, "ip": {`ip("x")`},
	"ip.isCanonical": {`ip.isCanonical("x")`}, "json.decode": {`json.decode("{")`},
	"labels.matches":    {`labels.matches("a=b=c", {"a": "b"})`, `labels.matches("a==b==", object.metadata.?labels)`, `labels.matches({"matchExpressions": [{"key": "a", "operator": "Near"}]}, object.metadata.?labels)`},
	"labels.matchesMap": {`labels.matchesMap({"a": dyn(1)}, {"a": "b"})`, `labels.matchesMap({"a": dyn(1)}, object.metadata.?labels)`},
	"lastIndexOf":       {`"abc".lastIndexOf("a", -1)`, `key.name.lastIndexOf("a", -1)`}, "matches": {`"a".matches("(")`, `key.name.matches("(")`},
	"math.bitShiftLeft": {`math.bitShiftLeft(1, -1)`, `math.bitShiftLeft(params.limit, -1)`}, "math.bitShiftRight": {`math.bitShiftRight(1, -1)`, `math.bitShiftRight(params.limit, -1)`},
	"math.abs": {`math.abs(int("-9223372036854775808"))`}, "names.limit": {`names.limit("abcdefghijkl", 5)`},
	"pattern.search": {`pattern.search("(", "a")`, `pattern.search("(", key.name)`}, "quantity": {`quantity("abc")`}, "quantity.sum": {`quantity.sum(["1", "x"])`},
	"quantity.value": {`quantity.value("abc")`}, "quantity.milli": {`quantity.milli("abc")`, `quantity.milli("99E")`}, "quantity.mul": {`quantity.mul("1", "abc")`, `quantity.mul(key.name, "abc")`}, "quantity.format": {`quantity.format(1, "GB")`, `quantity.format(params.limit, "GB")`, `quantity.format("x", key.name)`}, "regex.extract": {`regex.extract("a", "(")`, `regex.extract(key.name, "(")`},
	"regex.replace": {`regex.replace("a", "(", "b")`, `regex.replace(key.name, "(", key.name)`}, "semver": {`semver("x")`, `semver("1", false)`},
	"slice": {`[1].slice(2, 1)`}, "string": {`string(b"\xff")`}, "substring": {`"abc".substring(4)`, `key.name.substring(-1)`, `key.name.substring(3, 1)`},
	"text.envsubst": {`text.envsubst("$A", {})`}, "time.within": {`time.within("Mo 25:00-26:00", "Etc/UTC")`, `time.within("Mo 25:00-26:00", key.name)`, `time.within(key.name, "Europe/Bonn")`},
	"timestamp": {`timestamp("x")`}, "uint": {`uint("-1")`, `uint(-1)`}, "url": {`url("x")`}, "value": {`optional.none().value()`},
	"yaml.decode": {`yaml.decode("{")`}, "lists.range": {`lists.range(60000000)`},
}

// total are the functions of which no constant is wrong: whatever the types allow has
// a result.
var total = strings.Fields(`!_ @in _in_ in @not_strictly_false __not_strictly_false__ _&&_ _||_ _?_:_ _?._ _[?_] _!=_ _==_ _<_ _<=_ _>_ _>=_ @sortByAssociatedKeys
	asApproximateFloat base64.encode bytes cel.@mapInsert compareTo conditions.find conditions.isTrue conditions.since contains distinct duration.parse timestamp.parse dyn elapsed endsWith
	family format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix format.dns1123Label format.dns1123LabelPrefix format.dns1123Subdomain
	format.dns1123SubdomainPrefix format.labelValue format.named format.qualifiedName format.uri format.uuid getEscapedPath getHost getHostname getPort getQuery getScheme
	grace.holds hasValue hash.configData hash.fnv1a128 hash.sha256 includes isCIDR isGlobalUnicast isGreaterThan isIP isInteger isLessThan isLinkLocalMulticast
	isLinkLocalUnicast isLoopback isQuantity isSemver isSorted isURL isUnspecified join json.encode json.parse labels.requirementError labels.selectorError last first
	lowerAscii major maps.merge masked math.@max math.@min math.bitAnd math.bitNot math.bitOr math.bitXor math.ceil math.floor math.isFinite math.isInf math.isNaN math.round
	math.sign math.sqrt math.trunc max memory.get min minor names.number optional.none optional.of optional.ofNonZeroValue optional.unwrap or orValue patch add pattern.valid
	prefixLength quantity.parse replace restart.annotationName restart.references reverse sets.contains sets.equivalent sets.intersects sign size sort sub split startsWith
	strings.quote sum trim type unwrapOpt upperAscii validate yaml.encode
	allowed check error errored fieldSelector group labelSelector name namespace path reason resource serviceAccount subresource`)

// TestEveryFunction: a new function is in one of the tables, and a constant that is
// wrong is an error of the expression.
func TestEveryFunction(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for _, name := range slices.Sorted(maps.Keys(env.base().Functions())) {
		if len(refused[name]) == 0 == !slices.Contains(total, name) {
			t.Errorf("%s has to be in one of the two tables: can a constant be wrong?", name)
		}
		for _, text := range refused[name] {
			if _, problem := wrong(env, text); problem == "" {
				t.Errorf("%s compiles", text)
			}
		}
	}
}

// TestConstants: what is said of a wrong constant, and where; and what is not.
func TestConstants(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for text, want := range map[string]string{
		`object.metadata.name == "a" && quantity("abc").isGreaterThan(quantity("1"))`: `f.yaml:1:45: quantities must match`,
		`"a" + string(int("1") + int("x"))`:                                           "f.yaml:1:33: this text is no whole number",
		`time.within("Mo 08:00-09:00", key.name)`:                                     `f.yaml:1:17: time.within: "Mo 08:00-09:00" is not a time of the week`,
		`labels.matches("a=b=c", object.metadata.?labels)`:                            `f.yaml:1:20: labels.matches: `,
		`[1, 2].map(x, x / 0)`:                                                        `f.yaml:1:23: division by zero (it is written out, so this would fail in every evaluation)`,
		`cron.next("0 3 * * *", "Europe/Bonn")`:                                       `f.yaml:1:28: cron.next: "Europe/Bonn" is not a time zone`,
		`memory.get("a").value() == "b"`:                                              "",
		`elapsed(now, duration("1h"))`:                                                "",
		`5 / params.limit`:                                                            "",
		`variables.any / 0.0`:                                                         "",
		`key.name.substring(1, 30000)`:                                                "",
		`lists.range(1000000).size()`:                                                 "",
		`names.limit(key.name, 5)`:                                                    "",
		`isQuantity(key.name) ? quantity(key.name) : quantity("0")`:                   "",
	} {
		if problem := placed(t, env, text); want == "" && problem != "" || !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q", text, problem, want)
		}
	}
}

// placed returns what is wrong with an expression that is written in a file.
func placed(t *testing.T, env *Env, text string) string {
	t.Helper()
	var problems document.Problems
	node := yaml(t, "'"+text+"'")
	env.Compile(Text{Node: node, Source: node.Text}, &problems)
	if err := problems.Err(); err != nil {
		return err.Error()
	}
	return ""
}
