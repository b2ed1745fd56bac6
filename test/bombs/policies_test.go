package bombs

import (
	"fmt"
	"strings"
)

// scenario is a policy, the objects it decides about, and the error that comes of
// it: of compiling it or of running it.
type scenario struct {
	name   string
	spec   string
	data   map[string]string
	others int
	want   string
}

const primary = "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [d]}\n"

// asVariable is a policy with an expression as a variable that a rule uses.
func asVariable(expression string) string {
	return primary + "  variables:\n    - name: x\n      expression: " + quoted(expression) + "\n" + `  rules:
    - name: r
      do: [{log: {level: info, message: "done ${optional.of(variables.x).hasValue()}"}}]
`
}

// asConstant is a policy in which an expression stands in a text, where it may be
// computed when the policy is compiled.
func asConstant(expression string) string {
	return primary + "  variables:\n    - name: x\n      value: " + quoted("${"+expression+"}") + "\n" + `  rules:
    - name: r
      do: [{log: {level: info, message: "done ${optional.of(variables.x).hasValue()}"}}]
`
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// using is a policy with some variables and one rule.
func using(variables, rule string) string {
	if variables != "" {
		variables = "  variables:\n" + variables
	}
	return primary + variables + "  rules:\n    - name: r\n" + rule
}

const logs = "      do: [{log: {level: info, message: done}}]\n"

// each writes a line for each number below n, which stands in it as %[1]d, and
// the number after it as %[2]d.
func each(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i, i+1)
	}
	return b.String()
}

const bigInput = "  inputs:\n    - {name: big, apiVersion: v1, kind: ConfigMap, get: '{\"namespace\": \"e\", \"name\": \"big\"}'}\n"

var scenarios = []scenario{
	{name: "a template of many texts", spec: using("    - {name: s, expression: object.data.a}\n    - name: x\n      value: \""+rep("${variables.s}", 2500)+"\"\n", "      when: size(variables.x) > 0\n"+logs),
		data: oneText, want: large},
	{name: "an annotation of three texts", spec: using("", "      do: [{annotations: {set: {x: \"${object.data.a}${object.data.a}${object.data.a}\"}}}]\n"), data: oneText, want: large},
	{name: "an object with thousands of references to one", spec: using("", `      do:
        - apply:
            apiVersion: example.com/v1
            kind: Thing
            metadata: {name: x, namespace: d}
            spec: {list: "${lists.range(3000).map(i, object.data)}"}
`), data: oneText, want: "what is written has more than 8 MiB"},
	{name: "variables that double", spec: using("    - {name: v0, value: [1]}\n"+each(39, "    - {name: v%[2]d, value: [\"${variables.v%[1]d}\", \"${variables.v%[1]d}\"]}\n"), "      when: size(variables.v39) > 0\n"+logs), want: "the evaluation builds more than its limit of 500000 nodes"},
	{name: "a collection of long texts", spec: using("    - {name: c, forEach: lists.range(5000), as: i, value: \"${object.data.a}${i}\"}\n", "      when: size(variables.c) > 0\n"+logs), data: oneText, want: bytes},
	{name: "very many items, each within its limit", spec: using("    - {name: few, expression: lists.range(300)}\n"+each(5, "    - {name: c%[1]d, forEach: lists.range(90000), as: i, value: \"${variables.few.all(j, j >= i - i)}\"}\n"),
		"      when: size(variables.c0) + size(variables.c1) + size(variables.c2) + size(variables.c3) + size(variables.c4) > 0\n"+logs), want: "the evaluation costs more than its limit of 25000000 cost units"},
	{name: "a rule for very many items", spec: using("    - {name: few, expression: lists.range(300)}\n", "      forEach: lists.range(90000)\n      as: i\n      when: variables.few.all(j, j >= i - i)\n      do: [{log: {level: info, message: \"${i}\"}}]\n"),
		want: "the evaluation costs more than its limit of 25000000 cost units"},
	{name: "a log of long lines", spec: using("", "      forEach: lists.range(9000)\n      as: i\n      do: [{log: {level: info, message: \"${object.data.a}\"}}]\n"), data: oneText, want: bytes},
	{name: "thousands of objects with a long text", spec: using("", "      forEach: lists.range(9000)\n      as: i\n      do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: x, name: \"a${i}\"}, data: {a: \"${object.data.a}${i}\"}}}]\n"),
		data: oneText, want: bytes},
	{name: "many objects with a text of another", spec: using("", "      forEach: lists.range(100)\n      as: i\n      do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: x, name: \"a${i}\"}, data: {a: \"${object.data.a}\"}}}]\n"),
		data: oneText, want: "of 64 MiB of writes"},
	{name: "thousands of names remembered", spec: using("", "      forEach: lists.range(3000)\n      as: i\n      do: [{remember: {name: \"x${i}\", value: \"${object.data.a}${i}\"}}]\n"), data: oneText, want: "the object would remember more than 1048576 bytes"},
	{name: "long texts remembered by many objects", spec: primary + bigInput + "  rules:\n    - name: r\n      do: [{remember: {name: x, value: \"${inputs.big.data.a}${key.name}\"}}]\n", data: oneText, others: 300,
		want: "the objects of the policy would remember more than 33554432 bytes together"},
	{name: "long texts kept for many objects", spec: primary + bigInput + "  variables:\n    - {name: y, value: \"${inputs.big.data.a}${key.name}\"}\n  rules:\n    - name: r\n      when: size(variables.y) > 0\n" + logs, data: oneText, others: 600},
	{name: "two lists crossed", spec: using("", choosing("      - {as: a, in: lists.range(5000)}\n      - {as: b, in: lists.range(5000)}\n", "a == b")), want: "the selection has more than 200000 candidates"},
	{name: "three lists crossed", spec: using("", choosing("      - {as: a, in: lists.range(500)}\n      - {as: b, in: lists.range(500)}\n      - {as: c, in: lists.range(500)}\n", "a + b == c")), want: "the selection has more than 200000 candidates"},
	{name: "thousands of variables in a chain", spec: using("    - {name: v0, expression: object.data}\n"+each(4999, "    - {name: v%[2]d, expression: variables.v%[1]d}\n"), logs), want: "there are 5000 variables, at most 500 are allowed"},
	{name: "thousands of large variables", spec: using(each(3000, "    - {name: v%[1]d, value: \"${object.data.a}%[2]d\"}\n"), logs), data: oneText, want: "there are 3000 variables, at most 500 are allowed"},
	{name: "long conditionals", spec: using(each(110, "    - {name: v%[1]d, expression: '"+each(90, "key.name==\"%[1]d\"?\"%[2]d\":")+"\"x%[2]d\"'}\n"), logs), want: "the expressions of the policy have more than 65536 bytes together"},
	{name: "long lists", spec: using(each(60, "    - {name: v%[1]d, expression: '["+rep("1,", 1900)+"%[2]d]'}\n"), logs), want: "the expressions of the policy have more than 65536 bytes together"},
	{name: "undefined names by the thousand", spec: using("", "      when: "+rep("variables.a == 1 && ", 90)+"true\n"+logs), want: "undefined name"},
	{name: "a constant that grows", spec: asConstant(`"` + rep("a", 1000) + `".replace("a", "` + rep("b", 1000) + `").replace("b", "` + rep("c", 300) + `").size()`), want: "replace: " + longText},
	{name: "a constant that takes long", spec: asConstant("lists.range(9000).map(i, [i]).distinct().size()"), want: "distinct: " + costs},
	{name: "a constant with the square of its length", spec: asConstant(`"` + rep("a", 800) + `".replace("a", "` + rep("a", 800) + `").indexOf("` + rep("c", 500) + `".replace("c", "` + rep("a", 800) + `") + "b")`), want: "indexOf: " + costs},
	{name: "a selector that is computed", spec: "  for: {apiVersion: v1, kind: ConfigMap, selector: '${\"a\" + string(lists.range(300000).distinct().size())}'}\n  rules:\n    - name: r\n" + logs, want: "this is computed when the policy is compiled"},
	{name: "patterns with large programs", spec: using("", "      when: '"+rep(`!key.name.matches("(`+rep("a?", 100)+`){1000}b") && `, 15)+"true'\n"+logs), want: "instructions, at most 2000 are allowed"},
}

func choosing(levels, keep string) string {
	return "      do:\n        - select:\n            candidates:\n" + strings.ReplaceAll(levels, "      -", "              -") +
		"            summary: \"${total}\"\n            pipeline: [{filter: x, keep: " + keep + "}]\n            then: [{annotations: {set: {n: \"${string(a)}\"}}}]\n            otherwise: []\n"
}
