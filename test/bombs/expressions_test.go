package bombs

import (
	"fmt"
	"strings"
)

// What the errors of the limits say.
const (
	costs    = "the expression costs more than 1000000 units; split it, or use a collection"
	longText = "it would build a text longer than the limit of 4194304 bytes"
	bytes    = "the evaluation builds more than its limit of 67108864 bytes"
	scratch  = "it would take more memory than the limit of 67108864 bytes for one call"
	large    = "the result is larger than allowed"
	aliases  = "with its aliases written out the text has more than 1048576 bytes"
)

// long is the largest text that an object may be expected to hold.
const long = 900_000

func rep(s string, n int) string { return strings.Repeat(s, n) }

// bomb is an expression over the data of a ConfigMap, and the error that it
// ends with: "" when it comes to an end within the limits.
type bomb struct {
	name, source string
	data         map[string]string
	want         string
}

func data(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

var (
	oneText    = data("a", rep("a", long))
	unlikely   = data("a", rep("a", 500_000), "b", rep("a", 400_000)+"b")
	manyFields = func() map[string]string {
		out := map[string]string{}
		for i := range 60_000 {
			out[fmt.Sprint("k", i)] = ""
		}
		return out
	}()
)

// textBombs build and read texts.
var textBombs = []bomb{
	{"replace by a text, twice", `"` + rep("a", 1000) + `".replace("a", "` + rep("b", 1000) + `").replace("b", "` + rep("c", 1000) + `").size()`, nil, "replace: " + longText},
	{"replace by the text itself", `object.data.a.replace("a", object.data.a).size()`, oneText, "replace: " + longText},
	{"replace by a thousand", `object.data.a.replace("a", "` + rep("b", 1000) + `").size()`, oneText, "replace: " + longText},
	{"replace nothing by something", `object.data.a.replace("", "bbbbbbbb").size()`, oneText, "replace: " + longText},
	{"replace a few", `object.data.a.replace("a", object.data.a, 3).size()`, oneText, ""},
	{"join with a long separator", `lists.range(100000).map(i, "").join(object.data.a).size()`, oneText, "join: " + longText},
	{"join thousands with a long separator", `lists.range(3000).map(i, "").join(object.data.a).size()`, oneText, "join: " + longText},
	{"join one text many times", `lists.range(3000).map(i, object.data.a).join().size()`, oneText, "join: " + longText},
	{"double a text that nothing is known of", `lists.range(3).map(a, lists.range(3).map(b, string(dyn("x") + dyn("y"))))`, nil, ""},
	{"a long text and itself", `[object.data.a + object.data.a].map(x, x + x).map(x, x + x).map(x, x + x).size()`, oneText, "+: " + longText},
	{"a precision of a billion", `"%.1000000000f".format([1.0]).size()`, nil, "format: " + longText},
	{"a precision that is data", `object.data.f.format([1.0]).size()`, data("f", "%.1000000000f"), "format: " + longText},
	{"a format of long lists", `"%s%s".format([lists.range(300000), lists.range(300000)]).size()`, nil, "format: " + longText},
	{"a format with a long text many times", `"%s%s%s%s%s%s".format([object.data.a, object.data.a, object.data.a, object.data.a, object.data.a, object.data.a]).size()`, oneText, "format: " + longText},
	{"a split into characters", `object.data.a.split("").size()`, oneText, ""},
	{"a split, put together again eight times", `[object.data.a.split("")].map(l, [l, l, l, l, l, l, l, l]).map(x, x.flatten().join("")).size()`, oneText, bytes},
	{"a substring in a loop", `lists.range(5000).map(i, object.data.a.substring(1).size()).size()`, oneText, "substring: " + costs},
	{"a character in a loop", `lists.range(9000).map(i, object.data.a.charAt(i)).size()`, oneText, "charAt: " + costs},
	{"an index in a loop", `lists.range(9000).all(i, object.data.a.indexOf("b") < 0)`, oneText, "indexOf: " + costs},
	{"an index with the square of the length", `object.data.a.indexOf(object.data.b)`, unlikely, "indexOf: " + costs},
	{"a last index with the square of the length", `object.data.a.lastIndexOf("b" + object.data.b)`, unlikely, "lastIndexOf: " + costs},
	{"a text in a text", `object.data.a.contains(object.data.b)`, unlikely, ""},
	{"a text in a text in a loop", `lists.range(9000).all(i, !object.data.a.contains("b"))`, oneText, "contains: " + costs},
	{"a size in a loop", `lists.range(3000).map(i, optional.of(object.data).optMap(d, d.a.size()).orValue(0)).size()`, oneText, "size: " + costs},
	{"a comparison in a loop", `lists.range(9000).all(i, object.data.a != object.data.b)`, data("a", rep("a", 450_000)+"x", "b", rep("a", 450_000)+"y"), costs},
	{"quotes", `strings.quote(object.data.a).size()`, data("a", rep(`"`, long)), ""},
	{"a pattern of all matches", `object.data.a.findAll("a").size()`, oneText, ""},
	{"a pattern in a loop", `lists.range(100).map(i, object.data.a.findAll("a*?a*?a*?a*?a*?a*?a*?a*?b").size())`, oneText, "findAll: " + costs},
	{"a pattern of optional letters", `object.data.a.matches("` + rep("a?", 100) + `b")`, oneText, "matches: " + costs},
	{"a pattern of repetitions", `object.data.a.matches("(a{1,100}){1,9}b")`, oneText, "matches: " + costs},
	{"a pattern of alternatives", `lists.range(90).all(i, !object.data.a.matches("` + rep("(a|b)?", 20) + `$"))`, oneText, "matches: " + costs},
	{"a quantity of a million digits", `quantity(object.data.a).isGreaterThan(quantity("1"))`, data("a", rep("9", long)), "quantity: " + costs},
	{"a quantity with as many decimals", `isQuantity(object.data.a)`, data("a", "0."+rep("1", long)), "isQuantity: " + costs},
	{"a quantity with an exponent", `quantity(object.data.a).compareTo(quantity("1"))`, data("a", "1"+rep("0", 400_000)+"e300000"), "quantity: " + costs},
	{"quantities far apart", `quantity("1e1000000").add(quantity("1e-1000000")).isGreaterThan(quantity("1"))`, nil, "quantity: " + costs},
	{"a quantity of two billion digits", `quantity(object.data.a).isGreaterThan(quantity("1.5"))`, data("a", "1e2000000000"), "quantity: " + costs},
	{"a quantity of as many decimals", `isQuantity(object.data.a) && quantity(object.data.a).add(quantity("1")).isGreaterThan(quantity("0"))`, data("a", "1E-2000000000"), "isQuantity: " + costs},
	{"the value of such a quantity", `quantity.value(object.data.a)`, data("a", "1e2000000000"), "too large to compute with"},
	{"the sum of such quantities", `quantity.sum([object.data.a, "1.5"])`, data("a", "1e-2000000000"), "too large to compute with"},
	{"a version of many parts", `semver(object.data.a).major()`, data("a", "1.2.3-"+rep("a.", 400_000)+"a"), ""},
	{"versions of many parts compared", `[semver(object.data.a)].map(s, lists.range(1000).all(i, s.compareTo(s) == 0))`, data("a", "1.2.3-"+rep("a.", 400_000)+"a"), "compareTo: " + bytes},
	{"an address", `isIP(object.data.a)`, data("a", rep("1:", 450_000)), ""},
	{"a query of many fields", `url(object.data.a).getQuery().size()`, data("a", "http://x/?"+rep("a=1&", 200_000)), "getQuery: " + bytes},
	{"an integer of a million digits", `int(object.data.a)`, data("a", rep("9", long)), "this text is no whole number"},
	{"a duration of many hours", `duration(object.data.a) > duration("1s")`, data("a", rep("1h", 400_000)), ""},
}

// listBombs build and compare lists.
var listBombs = []bomb{
	{"a million numbers", `lists.range(1000000).size()`, nil, "lists.range: " + costs},
	{"lists of a million numbers", `[` + rep("lists.range(999999), ", 60) + `[0]].size()`, nil, "lists.range: " + costs},
	{"lists put into one", `lists.range(64).map(i, lists.range(100000)).flatten().size()`, nil, "lists.range: " + costs},
	{"one list put into one many times", `[lists.range(900000)].map(x, [x, x, x, x, x, x, x, x]).map(y, [y, y, y, y, y, y, y, y]).flatten(3).size()`, nil, "flatten: " + bytes},
	{"different numbers", `lists.range(60000).distinct().size()`, nil, ""},
	{"very many different numbers", `lists.range(300000).distinct().size()`, nil, ""},
	{"different lists", `lists.range(9000).map(i, [i]).distinct().size()`, nil, "distinct: " + costs},
	{"different texts, counted", `countDistinct(lists.range(9000), i, string(i))`, nil, ""},
	{"a set in a set", `sets.contains(lists.range(30000), lists.range(30000).reverse())`, nil, ""},
	{"sets without a common item", `sets.intersects(lists.range(300000), lists.range(300000).map(i, -i - 1))`, nil, costs},
	{"sets of lists", `sets.equivalent(lists.range(5000).map(i, [i]), lists.range(5000).map(i, [i]).reverse())`, nil, "sets.equivalent: " + costs},
	{"long texts sorted", `lists.range(5000).map(i, i % 2 == 0 ? object.data.a : object.data.b).sort().size()`, data("a", rep("a", 450_000), "b", rep("a", 450_000)), "sort: " + costs},
	{"sorted by a key", `lists.range(50000).sortBy(i, -i).size()`, nil, "sortBy: " + costs},
	{"a member in a loop", `lists.range(1000).all(i, !((-1 - i) in lists.range(900000)))`, nil, "lists.range: " + costs},
	{"a loop in a loop in a loop", `lists.range(1000).all(i, lists.range(1000).all(j, lists.range(1000).all(k, true)))`, nil, costs},
	{"an index of a list in a loop", `[lists.range(500000)].map(l, lists.range(1000).map(i, l.indexOf(-1)))`, nil, "indexOf: " + costs},
	{"long texts in a list of long texts", `lists.range(500).map(i, object.data.b).all(s, s in lists.range(5000).map(i, object.data.a))`,
		data("a", rep("a", 450_000)+"x", "b", rep("a", 450_000)+"x"), "in: " + costs},
	{"a map of many entries", `lists.range(9000).transformMapEntry(i, v, {string(v): v}).size()`, nil, ""},
	{"a map of too many entries", `lists.range(100000).transformMapEntry(i, v, {string(v): v}).size()`, nil, costs},
	{"the largest of long texts", `lists.range(20000).map(i, i % 2 == 0 ? object.data.a : object.data.b).max().size()`, data("a", rep("a", 450_000), "b", rep("a", 450_000)), "max: " + costs},
	{"an object compared with itself many times", `lists.range(9000).map(i, dyn(object.data)) == lists.range(9000).map(i, dyn({"a": object.data.b}))`, data("a", rep("a", 450_000), "b", rep("a", 450_000)), "==: " + costs},
}

// builtinBombs call functions of this project.
var builtinBombs = []bomb{
	{"a long value in a text", `text.envsubst(object.data.t, {"X": object.data.a}).size()`, data("t", rep("$X ", 3000), "a", rep("x", 300_000)), "text.envsubst: " + longText},
	{"very many names in a text", `text.envsubst(object.data.t, {"X": "abc"}).size()`, data("t", rep("$X", 200_000)), "text.envsubst: " + costs},
	{"one object as JSON a thousand times", `json.encode(lists.range(1000).map(i, object)).size()`, oneText, "json.encode: " + longText},
	{"one object as YAML a thousand times", `yaml.encode(lists.range(1000).map(i, object)).size()`, oneText, "yaml.encode: " + longText},
	{"an object of many fields as JSON", `json.encode(lists.range(1000).map(i, object)).size()`, manyFields, "json.encode: " + longText},
	{"JSON of ninety thousand objects", `json.encode(lists.range(90000).map(i, object)).size()`, oneText, costs},
	{"deep JSON", `json.decode(object.data.a).size()`, data("a", rep("[", 9000)+rep("]", 9000)), ""},
	{"deep JSON as YAML", `yaml.encode(json.decode(object.data.a)).size()`, data("a", rep(`{"a":`, 9000)+"1"+rep("}", 9000)), "yaml.encode: "},
	{"deep JSON without an end", `json.decode(object.data.a).size()`, data("a", rep("[", 500_000)), "json.decode: " + scratch},
	{"wide JSON", `json.decode(object.data.a).size()`, data("a", "["+rep("[],", 300_000)+"1]"), "json.decode: " + scratch},
	{"aliases of aliases", `yaml.decode(object.data.a).size()`, data("a", laughs()), aliases},
	{"aliases of a long text", `yaml.decode(object.data.a).size()`, data("a", "a: &a "+rep("x", 300_000)+"\nb: ["+rep("*a,", 20_000)+"*a]\n"), aliases},
	{"a few aliases of a longer text", `yaml.decode(object.data.a).size()`, data("a", "a: &a "+rep("x", 850_000)+"\nb: ["+rep("*a,", 1000)+"*a]\n"), aliases},
	{"merged maps", `yaml.decode(object.data.a).size()`, data("a", merges()), aliases},
	{"an alias within itself", `yaml.decode(object.data.a).size()`, data("a", "a: &a [*a]\n"), "yaml.decode: "},
	{"wide YAML", `yaml.decode(object.data.a).size()`, data("a", "["+rep("[],", 300_000)+"1]"), "yaml.decode: " + scratch},
	{"a pattern with a large program", `pattern.search(object.data.p, object.data.t)`, data("p", "("+rep("a?", 112)+"){1000}b", "t", rep("a", 4096)), "pattern.search: "},
	{"a pattern in a loop, as data", `lists.range(100).all(i, !pattern.search(object.data.p, object.data.t))`, data("p", "("+rep("a?", 100)+"){20}b", "t", rep("a", 4096)), "pattern.search: " + costs},
	{"a selector of many requirements", `labels.matches(object.data.a, {})`, data("a", rep("a in (b),", 90_000)+"a in (b)"), "labels.matches: " + scratch},
	{"the data of an object in a loop", `lists.range(900).map(i, hash.configData(object)).size()`, data("a", rep("\x01", 150_000)), "hash.configData: " + costs},
	{"a digest in a loop", `lists.range(900).map(i, hash.fnv1a128(object.data.a)).size()`, oneText, "hash.fnv1a128: " + costs},
	{"a name of half a million characters", `names.limit(object.data.a, 63).size()`, data("a", rep("é", 450_000)), ""},
}

// laughs are aliases of aliases.
func laughs() string {
	var b strings.Builder
	b.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c <= 'j'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s*%c]\n", c, c, rep(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	return b.String()
}

// merges are maps that take over all fields of a large one.
func merges() string {
	var b strings.Builder
	b.WriteString("a: &a {x: 1")
	for i := range 20_000 {
		fmt.Fprintf(&b, ",k%d: 1", i)
	}
	b.WriteString("}\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "b%d: {<<: *a}\n", i)
	}
	return b.String()
}
