package cel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// elsewhere are names that authors know from other languages, and what stands
// for them here.
var elsewhere = map[string]string{
	"len": "size(x)", "length": "size(x)", "count": "size(x.filter(e, ...))", "str": "string(x)", "contains": "x.contains(y), or e in list",
	"merge": "maps.merge(a, b), or a template with both sets of fields", "any": "list.exists(e, ...)", "some": "list.exists(e, ...)", "every": "list.all(e, ...)", "flatMap": "list.map(...).flatten()",
	"null_value": "null", "None": "null", "nil": "null", "undefined": "null", "True": "true", "False": "false", "if": "condition ? a : b",
	"regex": "text.matches(\"literal\"), or pattern.search(pattern, text)", "sprintf": "\"...\".format([...]), or a template", "concat": "a + b",
	"time.now": "now in a template; elapsed(since, period) and grace.holds(since, period) in conditions", "default": "x.orValue(default)",
	"time.since": "elapsed(since, period) or grace.holds(since, period), which say when the answer changes",
	"self":       "object", "this": "object", "request": "object; what a write was is not known here", "oldObject": "object; its earlier state is not known here",
	"toLowerCase": "x.lowerAscii()", "lower": "x.lowerAscii()", "toUpperCase": "x.upperAscii()", "upper": "x.upperAscii()", "strip": "x.trim()",
	"startswith": "x.startsWith(y)", "hasPrefix": "x.startsWith(y)", "endswith": "x.endsWith(y)", "hasSuffix": "x.endsWith(y)", "find_all": "x.findAll(\"literal\")",
	"math.max": "math.greatest(x, y), or list.max()", "math.min": "math.least(x, y), or list.min()", "math.pow": "a product; there are no powers",
	"toUpper": "x.upperAscii()", "toLower": "x.lowerAscii()", "parseInt": "int(text)", "toInt": "int(x)", "parseFloat": "double(text)", "toString": "string(x)", "str2int": "int(text)",
	"get": "m[?key].orValue(default) for a key of a map, x.orValue(default) for an optional", "reduce": "list.fold(acc, init, x, e)", "append": "list + [x]", "push": "list + [x]", "keys": "map.map(k, k)", "values": "map.transformList(k, v, v)", "unique": "list.distinct()", "includes": "x.contains(y), or e in list",
	"cel.bind": "a variable, of the policy or of the rule, and read its name", "bind": "a variable, of the policy or of the rule, and read its name",
	"orElse": "x.orValue(default)", "getOrElse": "x.orValue(default)", "isPresent": "x.hasValue()", "isSet": "has(a.b)", "sort_by": "list.sortBy(x, e)",
	"not": "!x", "authorizer": "nothing: a policy does not ask what users may do", "namespaceObject": "an input of kind Namespace with get: key.namespace", "variable": "variables", "param": "params", "input": "inputs",
	"random": noRandom, "rand": noRandom, "randInt": noRandom, "randAlphaNum": noRandom, "randomString": noRandom, "uuid": noRandom, "uuidv4": noRandom, "genPassword": noRandom,
	"lookup": asInput, "fetch": asInput, "getObject": asInput, "listObjects": asInput, "kube": asInput, "resource": asInput, "age": "elapsed(object.metadata.creationTimestamp, duration(\"1h\"))", "today": "now in a template; elapsed(since, period) in conditions", "date": "now in a template; elapsed(since, period) in conditions",
	"hasattr": "has(a.b)", "defined": "has(a.b)", "hasKey": "key in x", "has_key": "key in x", "containsKey": "key in x", "empty": "size(x) == 0", "isEmpty": "size(x) == 0", "b64decode": "base64.decode(x)", "b64dec": "base64.decode(x)", "b64encode": "base64.encode(x)", "b64enc": "base64.encode(x)",
	"toYaml": "json.encode(x)", "toJson": "json.encode(x)", "fromJson": "json.decode(x)", "printf": "\"...\".format([...]), or a template", "forEach": "list.map(e, ...), or forEach of the rule", "each": "list.map(e, ...), or forEach of the rule", "env": "params.x, a param of the policy", "getenv": "params.x, a param of the policy",
	"int64": "int(x)", "float": "double(x)", "boolean": "bool(x)", "list": "[x, y]", "dict": "{key: x}",
}

// noRandom stands for functions that would give another result in the same state.
const noRandom = "hash.sha256(object.metadata.uid), which differs for each object: the same state gives the same result, so nothing is random; a password comes from a Secret that is made elsewhere"

// asInput stands for functions that ask the cluster.
const asInput = "inputs.x, and declare the input x with apiVersion, kind, and get or where, which say what objects it has"

// unconverted says what is wrong with a text that cannot be converted, and how such a
// text is found or written.
var unconverted = []struct{ messages, text, hint string }{
	{"type conversion error from 'string' to 'google.protobuf.Duration' | invalid duration argument", "this text is no duration", "units are ns, us, ms, s, m and h, such as 90s or 1h30m (there are no days: 24h)"},
	{"invalid timestamp argument | type conversion error from 'string' to 'google.protobuf.Timestamp'", "this is no time", "a text as in RFC 3339, 2026-03-01T12:00:00Z, or seconds since 1970, until the year 9999"},
	{"type conversion error from 'string' to 'int'", "this text is no whole number of 64 bits", "test it before, as in x.matches('^-?[0-9]{1,18}$') ? int(x) : 0"},
	{"type conversion error from 'string' to 'uint'", "this text is no whole number of 64 bits that is not negative", "test it before, as in x.matches('^[0-9]{1,19}$') ? uint(x) : 0u"},
	{"type conversion error from 'string' to 'double'", "this text is no number", "test it before, as in x.matches('^-?[0-9]+([.][0-9]+)?$') ? double(x) : 0.0"},
	{"type conversion error from 'string' to 'bool'", "this text is neither true nor false", "x == 'true' is false for any other text"},
}

// outOfRange is what slice says of indexes that the list does not have.
var outOfRange = regexp.MustCompile(`^cannot slice\(.*(less than or equal to end index|list is length \d+)$`)

// QuantityOfAny says what takes quantities that are numbers.
const QuantityOfAny = "quantity.value(x) and quantity.parse(x) take numbers as well"

// valueProblem words what CEL says of a text that cannot be converted, of indexes that a
// list does not have, or of a quantity that is a number, as a custom resource may have it;
// "" if it is about something else.
func valueProblem(message string) (text, hint string) {
	if strings.HasPrefix(message, "invalid RFC 3339 timestamp ") { // and the text
		message = "invalid timestamp argument"
	}
	for _, u := range unconverted {
		if slices.Contains(strings.Split(u.messages, " | "), message) {
			return u.text, u.hint
		}
	}
	if outOfRange.MatchString(message) {
		return message, "math.least(n, size(list)) is an index that the list has"
	}
	if strings.HasPrefix(message, "no such overload: quantity(") {
		return "quantity(x) takes a text, and this is none", QuantityOfAny
	}
	return "", ""
}

// mismatches say how types that do not go together are brought together: name is a part of
// the message, arguments a pattern of the types that were given. The first one counts.
var mismatches = []struct {
	name      string
	arguments *regexp.Regexp
	hint      string
}{
	{"'orValue'", regexp.MustCompile(`optional\(`), "the default has the type of the value: 0 for a number, \"\" for a text, [] for a list, {} for a map"},
	{"", regexp.MustCompile(`optional\(`), "an optional is no plain value: x.orValue(default), x.value(), x.hasValue()"},
	{"'_?_:_'", regexp.MustCompile(`null`), "both results have one type: c ? optional.none() : optional.of(x), or dyn(null) for a value that is removed"},
	{"'_?_:_'", anything, "both results have one type, or dyn(x) around each"},
	{"'_", regexp.MustCompile(`\((timestamp, string|string, timestamp)\)`), "a time is a timestamp: timestamp(\"2026-03-01T12:00:00Z\"), timestamp(text)"},
	{"", regexp.MustCompile(`null`), "a field is either absent or has a value: has(a.b), or a.?b.hasValue()"},
	{"'_[_]'", regexp.MustCompile(`'\([^(), ]*[./][^(), ]*, string\)`), "an object has fields, not keys: x.name, in backticks if it is no word: x.`foo-bar`"},
	{"'_[_]'", regexp.MustCompile(`'\(list\([^()]*ondition[^()]*\), string\)`), "conditions.isTrue(object.?status.conditions, \"Ready\") asks for a condition, conditions.find gives it"},
	{"'_[_]'", regexp.MustCompile(`'\(list\(.*, string\)`), "a list has items by number, as in x[0]: x.exists(e, e.name == y) asks for one, x.filter(e, e.name == y) finds it"},
	{"'_<", regexp.MustCompile(`'\(bool, `), "a comparison has two sides: a < x && x < b"},
	{"=_'", regexp.MustCompile(`'\(map\(string, string\), map\(|, map\(string, string\)\)`), "the values of both maps have one type: a text stands in quotes, as in {\"a\": \"1\"}"},
	{"=_'", regexp.MustCompile(`'\(list\(.*, list\(`), "the items of both lists have one type: a text stands in quotes, as in [\"1\"]"},
	{"'_[_]'", regexp.MustCompile(`'\(string, `), "a text has no items: x.substring(0, 1), x.split(\"\")"},
	{"'_%_'", regexp.MustCompile(`'\(string, `), "a text is filled in by \"...\".format([...]), or a template"},
	{"'_", regexp.MustCompile(`'\((int, string|string, int)\)`), "int(text) or string(number) makes both of one type"},
	{"", regexp.MustCompile(`\((int, double|double, int|int, uint|uint, int|double, uint|uint, double)\)`), "double(x) or int(x) makes both of one type"},
	{"'quantity'", regexp.MustCompile(`'\((int|double|uint)\)`), QuantityOfAny},
	{"'duration'", regexp.MustCompile(`'\((int|uint)\)`), "duration(string(n) + \"s\") is n seconds"},
	{"'string'", regexp.MustCompile(`'\((list|map)\(`), "json.encode(x) is the text of a list or a map, list.join(\", \") that of a list of texts"},
	{"'@in'", regexp.MustCompile(`'\(string, string\)`), "x.contains(y) asks whether a text is in a text"},
	{"'contains'", regexp.MustCompile(`'list\(`), "e in list asks for an item of a list"},
	{"'format'", regexp.MustCompile(`'string\.`), "the values are a list: x.format([a, b])"},
	{"'_+_'", regexp.MustCompile(`'\(list\(`), "list + [x] adds an item, a + b joins two lists of one type"},
	{"'string'", regexp.MustCompile(`Quantity`), "quantity.parse(x).value() is the text of a quantity"},
	{"", regexp.MustCompile(`Quantity`), "quantities: a.isGreaterThan(b), a.isLessThan(b), a.compareTo(b), a.add(b), a.sub(b)"},
	{"", regexp.MustCompile(`Semver`), "versions: a.isGreaterThan(b), a.isLessThan(b), a.compareTo(b)"},
	{"'_+_'", regexp.MustCompile(`\(map\(`), elsewhere["merge"]},
	{"'contains'", regexp.MustCompile(`map\(`), "key in x asks for a key of a map"},
	{"Value'", anything, "this is no optional: a.?b is one, as in a.?b.orValue(default), and m[?key] for a map"},
	{"=_'", regexp.MustCompile(`\((string, bool|bool, string)\)`), "a text is compared with a text in quotes, such as \"True\""},
	{"'!_'", anything, "! takes true or false: x == 0, size(x) == 0, !has(a.b)"},
	{"'elapsed'", regexp.MustCompile(`'\(string, `), "a time is a timestamp: timestamp(text)"},
	{"'grace.holds'", regexp.MustCompile(`'\(string, `), "a time is a timestamp: timestamp(text)"},
	{"", regexp.MustCompile(`timestamp, string`), "a period is a duration: duration(\"10m\")"},
	{"'-_'", regexp.MustCompile(`\(duration\)`), "duration(\"0s\") - x is the opposite of a duration"},
	{"'-_'", regexp.MustCompile(`\(timestamp\)`), "a time has no opposite: -int(x), its seconds, puts the latest first"},
	{"'_*_'", regexp.MustCompile(`duration`), "a duration is calculated with in seconds, as in duration(string(x.getSeconds() * 2) + \"s\")"},
	{"'_/_'", regexp.MustCompile(`duration`), "a duration is calculated with in seconds, as in duration(string(x.getSeconds() * 2) + \"s\")"},
	{"=_'", twoObjects, "dyn(x) == y compares objects of two types by their content"},
}

var anything = regexp.MustCompile(``)

// twoObjects are two objects with schemas, or two parts of such.
var twoObjects = regexp.MustCompile(`\([^(), ]*[./][^(), ]*, [^(), ]*[./][^(), ]*\)`)

// overloadHint says how types that do not go together are brought together, if that is known.
func overloadHint(message string) string {
	arguments := message[strings.LastIndex(message, "applied to")+1:]
	for _, o := range mismatches {
		if strings.Contains(message, o.name) && o.arguments.MatchString(arguments) {
			return o.hint
		}
	}
	return ""
}

// messageHint says what was probably meant where CEL's message says only what is wrong.
func messageHint(message string) string {
	switch {
	case message == "invalid argument to has() macro":
		return "has(a.b) asks for a field, key in x for a key of a map, size(x) > 0 for items"
	case message == "comprehension exceeds nesting limit":
		return "loops stand in one another, and in a chain, up to a limit: give the inner list a variable of its own"
	case message == "reserved identifier: let":
		return "write a variable: expressions have none of their own"
	case strings.HasPrefix(message, "type 'list(") && strings.HasSuffix(message, "does not support field selection"):
		return "a list has items: size(x), x[0], x.map(e, e.field), x.exists(e, e.field == y)"
	case message == "type 'string' does not support field selection":
		return "a text has no fields: size(x) is its length; a key with dots or / in it stands in brackets: labels[\"example.com/name\"]"
	case strings.HasPrefix(message, "type '") && strings.HasSuffix(message, "does not support field selection"):
		return "it has no fields; a function is called with brackets: x.getFullYear()"
	case message == "argument must be a simple name":
		return "a loop names its items first: list.exists(e, e > 0)"
	case strings.HasPrefix(message, "reserved identifier: "):
		return "this is a word of CEL: take another name; a field or a key is read by x[\"name\"] or x.`name`"
	}
	return ""
}

var unexpected = regexp.MustCompile(`(?:mismatched input|extraneous input|token recognition error at:|no viable alternative at input) '('?[^']*'?)'`)

// foreign are operators of other languages: how the parser names them, or how
// the expression goes on where it stopped, what is said of them and what is
// written here.
var foreign = []struct{ word, from, text, hint string }{
	{"$", "${", "an expression stands here as it is, without ${ }", "${ } is for templates; leave it out"},
	{"=>", "=>", `"=>" is no operator of CEL`, "list.map(e, ...), list.filter(e, ...)"},
	{"= ", "= ", `"=" is no operator of CEL`, "== compares"},
	{"and", "and ", `"and" is no operator of CEL`, "&&, || and ! are"},
	{"or", "or ", `"or" is no operator of CEL`, "&&, || and ! are"},
	{"not", "not ", `"not" is no operator of CEL`, "&&, || and ! are"},
	{"is", "is ", `"is" is no operator of CEL`, "== compares; has(a.b) asks whether a field is there"},
	{"between", "between ", `"between" is no operator of CEL`, "x >= 1 && x <= 3"},
	{"like", "like ", `"like" is no operator of CEL`, "x.matches(\"literal\"), x.contains(y), x.startsWith(y)"},
}

// otherwise are what other languages write where the parser stops later, or names
// something else.
var otherwise = []struct {
	form       *regexp.Regexp
	text, hint string
}{
	{regexp.MustCompile(`\?\?`), `"??" is no operator of CEL`, "x.orValue(default) on an optional"},
	{regexp.MustCompile(`[\w\])]\?\.[A-Za-z_]`), `"?." is no operator of CEL`, "a field that may be absent is read by .?, as in object.?status.?phase.orValue(\"\")"},
	{regexp.MustCompile(`=~`), `"=~" is no operator of CEL`, "x.matches(\"literal\"), or pattern.search(pattern, text)"},
	{regexp.MustCompile(`\d\.\.`), `".." is no operator of CEL`, "x >= 1 && x <= 3, or lists.range(n)"},
	{regexp.MustCompile(`\bin \([^()]*,`), "( ) make no list", "x in [1, 3]"},
	{regexp.MustCompile(`[=!]==`), `"===" and "!==" are no operators of CEL`, "== and != compare values and types"},
	{regexp.MustCompile(`\[-?\d*:-?\d*\]`), "[a:b] is no operator of CEL", "text.substring(0, 3), list.slice(0, 3)"},
	{regexp.MustCompile(`(^|[ (])\d+(ms|[smhd])\b`), "this is no value of CEL", "a period is a duration: duration(\"1h\")"},
	{regexp.MustCompile(`^\s*if\b|\?:`), "this is no condition of CEL", "condition ? a : b, or x.orValue(default) of an optional"},
	{regexp.MustCompile(` \| `), `"|" is no operator of CEL`, "a function is called on a value: x.lowerAscii(); || is or"},
	{regexp.MustCompile(`<>`), `"<>" is no operator of CEL`, "!= compares"},
	{regexp.MustCompile(`\{\{`), "this is no Go template", "an expression stands here as it is, without {{ }}"},
	{regexp.MustCompile(`(^|[(&|]) *not `), `"not" is no operator of CEL`, "&&, || and ! are"},
}

// spelt returns what a text that does not parse writes as in another language.
func spelt(source string) (found struct{ text, hint string }, ok bool) {
	for _, o := range otherwise {
		if o.form.MatchString(source) {
			return struct{ text, hint string }{o.text, o.hint}, true
		}
	}
	return found, false
}

// keywords are words that the parser takes for no name, also after a dot.
var keywords = []string{"in", "true", "false", "null"}

// syntaxProblem words what the parser says of the mistakes that are usual.
func syntaxProblem(message, from string) (text, hint string) {
	word := ""
	if m := unexpected.FindStringSubmatch(message); m != nil {
		word = m[1]
	}
	for _, f := range foreign {
		if word != "" && strings.HasPrefix(word+" ", f.word+" ") || strings.HasPrefix(from, f.from) {
			return f.text, f.hint
		}
	}
	if field := strings.TrimPrefix(word, "."); field != word && slices.Contains(keywords, field) {
		return fmt.Sprintf("%q is a word of CEL", field), "a field with this name is written in backticks: .`" + field + "`"
	}
	switch {
	case word == "<EOF>" || strings.Contains(message, "'<EOF>'"):
		return "the expression ends too early", "a bracket, a quote or the other side of an operator is missing"
	case word != "":
		return "\"" + word + "\" is not expected here", "an operator may be missing before it, or a bracket or quote before"
	}
	return strings.TrimPrefix(message, "Syntax error: "), ""
}
