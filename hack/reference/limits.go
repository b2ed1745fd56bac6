package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// limit bounds what one policy may use: a row of the table of limits.
type limit struct{ what, atMost, why string }

// limits returns the language's page with its table of limits, the first table of the
// section.
func limits(page string) (string, error) {
	const head = "\n## Limits\n"
	at := strings.Index(page, head)
	if at < 0 {
		return "", fmt.Errorf("it has no section %q", strings.TrimSpace(head))
	}
	start := strings.Index(page[at:], "\n|")
	if start < 0 {
		return "", fmt.Errorf("its section %q has no table", strings.TrimSpace(head))
	}
	start += at + 1
	end := strings.Index(page[start:], "\n\n")
	if end < 0 {
		return "", fmt.Errorf("no empty line follows the table of its section %q", strings.TrimSpace(head))
	}
	table := "| What | At most | Why |\n|---|---|---|"
	for _, l := range slices.Concat(texts(), runs(), kept(), tests()) {
		table += fmt.Sprintf("\n| %s | %s | %s |", l.what, l.atMost, l.why)
	}
	return page[:start] + table + page[start+end:], nil
}

// texts returns the limits of the text of a policy.
func texts() []limit {
	return []limit{
		{"a document", size(document.MaxBytes) + ", nested " + count(document.MaxDepth) + " deep", "a ConfigMap holds 1 MiB"},
		{"kinds of a document", count(load.MaxKinds), "each is a policy of its own, which is compiled, watched and kept in the history"},
		{"policies of a ConfigMap, each kind counted", count(source.MaxPolicies), "edits of other ConfigMaps wait until they are compiled"},
		{"rules of a policy", count(compile.MaxRules), "split a larger policy into several"},
		{"variables of a policy, a rule or a collection", count(compile.MaxVariables), "each is compiled with all previous ones in scope"},
		{"the text of a rule", size(compile.MaxRuleBytes), "a rule should fit on one page"},
		{"all expressions of a policy", size(cel.MaxExpressions), "the time to compile a policy"},
		{"an expression", size(cel.MaxExpression) + ", " + count(cel.MaxNodes) + " nodes of syntax tree, " + count(cel.MaxParens) + " open brackets", "compile time grows faster than the length: 100 KB take seconds"},
		{"lists, maps and optionals in a type", count(cel.MaxNested), "compile time grows with their cube"},
		{"steps of checking types", count(cel.MaxSteps) + " for an expression, " + count(cel.MaxPolicySteps) + " for a policy", "checking grows with the square of the length; split the expression into variables"},
		{"nested loops", count(cel.MaxNesting), "each level multiplies the work"},
		{"bound variables, nested or chained", count(cel.MaxBound), "each loop of a chain over previous results can double the result"},
		{"copies of one value made by a chain of loops", count(cel.MaxCopies), "otherwise a short text could refer to one value any number of times"},
		{"nested comprehensions of a Rego module", count(rego.MaxComprehensions), "the compiler of Rego takes twice as long for each level"},
		{"expressions of a body of a Rego module", count(rego.MaxBody), "the time to order them grows with the third power"},
		{"comparisons of a type of a value of a Rego rule", count(rego.MaxTypeCost), "the compiler of Rego compares the parts of a type twice: a list of two lists costs 4 times as much for each level"},
		{"a literal regular expression", size(cel.MaxRegex) + ", " + count(cel.MaxRegexProgram) + " instructions", "a short pattern can compile to a large program: `(a{100}){10}` has a thousand instructions"},
	}
}

// runs returns the limits of an evaluation.
func runs() []limit {
	return []limit{
		{"one run of an expression (one item, one candidate)", count(expr.RunCost) + " cost units", "the limit of the API server for a validation rule"},
		{"one evaluation", count(expr.EvaluationCost) + " cost units, plus " + count(expr.ItemCost) + " per item, up to " + count(expr.MaxEvaluationCost), "enough for a pool of thousands of nodes, too little for an accidental explosion"},
		{"a text that one call builds", size(expr.TextBytes), "computed from the arguments before the call"},
		{"what the calls, templates and log lines of one evaluation build", size(expr.EvaluationBytes), "it does not grow with the number of items, because the memory of the process does not"},
		{"temporary memory of one call", size(expr.ScratchBytes), "parsing JSON or YAML takes many times the length of the text"},
		{"all values that one evaluation builds", count(expr.EvaluationNodes) + " nodes, plus " + count(expr.ItemNodes) + " per item, up to " + count(expr.MaxEvaluationNodes), "variables may refer to each other's values many times"},
		{"a result", count(value.MaxResultNodes) + " nodes or " + size(value.MaxResultBytes) + " of text", "a short text can contain one list many times"},
		{"the candidates of a selection", count(selection.MaxCandidates), "two lists of thousands have millions of pairs"},
		{"one write", size(eval.MaxBody), "the size of names and values in memory; the API server accepts 3 MiB of JSON"},
		{"all writes of one evaluation", size(eval.MaxWritten), "they are kept in memory until they are sent; writes to one object that are joined count about what they come to"},
		{"the input of a Rego query", count(rego.MaxInputNodes) + " nodes or " + size(rego.MaxInputBytes) + " of text", "a part that occurs twice counts twice"},
		{"steps of a Rego query", count(rego.MaxSteps), "a step is an expression that is evaluated, or a piece of text that a function writes; it costs " + count(expr.RunCost/rego.MaxSteps) + " units"},
		{
			"an evaluation, elapsed time", fmt.Sprintf("%.0f s", expr.EvaluationTime.Seconds()),
			"a last resort, far above what the other limits allow. Those count work, so that no decision depends on the machine's load. It is retried",
		},
		{
			"a Rego query, CPU time", fmt.Sprintf("%.0f s", rego.MaxTime.Seconds()),
			"also a last resort: the work of a Rego function cannot be counted while it runs. The process that evaluates Rego also has a memory limit, 192 MiB in the chart",
		},
	}
}

// kept returns the limits of what is kept between evaluations.
func kept() []limit {
	return []limit{
		{"what one object remembers", size(eval.MaxRemembered), "`remember` fails above it"},
		{"what all objects of a policy remember", size(eval.MaxRememberedAll), "`remember` fails above it; remembered values outlive the objects"},
		{"cached results of one object", size(eval.MaxMemo), "results above it are computed again"},
		{"cached results of all objects of a policy", size(eval.MaxMemoAll), "results above it are computed again"},
		{"cached results of all policies", size(eval.MaxMemoProcess), "results above it are computed again"},
		{"pending runs of debounced rules of a policy, with their objects", size(eval.MaxPutOff), "above it no run is delayed: the object fails, and is retried"},
		{"answers of builtins that call another process, of all objects of a policy that wait for their own writes", size(eval.MaxAnswers), "a call above it is made again"},
	}
}

// tests returns the limits of policy tests.
func tests() []limit {
	return []limit{
		{"the cases that the matrices of a document stand for", size(load.MaxMatrices), "a short document could stand for gigabytes"},
		{"writes, calls and errors of a simulation, or of a case of a policy test", size(simulate.MaxKept), "policies that create objects which they decide about never come to rest"},
		{"the same in the controller, for a case of a test beside its policy", size(policytest.MaxKept) + "; 20 seconds for all tests of a ConfigMap, which end after " + count(policytest.MaxFailed) + " cases that fail", "they run beside what the controller keeps"},
	}
}

// size returns a number of bytes in the largest unit that needs no fraction.
func size(bytes int) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	for len(units) > 1 && bytes%1024 == 0 {
		bytes, units = bytes/1024, units[1:]
	}
	return strconv.Itoa(bytes) + " " + units[0]
}

// count returns a number with its thousands apart.
func count(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
