// Package limits lists the limits that keep one policy from harming the others,
// with their reasons, and what was measured at or beyond them. docs/language.md
// shows the same table.
package limits

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

// Limit bounds what one policy may use.
type Limit struct {
	// What is limited, Value how much of it there may be, in Unit.
	What  string
	Value int
	Unit  Unit
	// More is appended to the value, such as a second limit; "" is none.
	More string
	// Why the limit is there, and has this value.
	Why string
	// Measured is what the limit, or an input beyond it, took on a machine with two
	// cores; "" if not measured.
	Measured string
}

// Unit is what a limit counts.
type Unit string

// The units.
const (
	Bytes   Unit = "bytes"
	Nodes   Unit = "nodes"
	Cost    Unit = "cost units"
	Seconds Unit = "s"
	Count   Unit = ""
)

// AtMost returns the value with its unit.
func (l *Limit) AtMost() string {
	out := strings.TrimSpace(thousands(l.Value) + " " + string(l.Unit))
	switch {
	case l.Unit == Bytes && l.Value >= 1<<20 && l.Value%(1<<20) == 0:
		out = fmt.Sprintf("%d MiB", l.Value>>20)
	case l.Unit == Bytes && l.Value >= 1<<10 && l.Value%(1<<10) == 0:
		out = fmt.Sprintf("%d KiB", l.Value>>10)
	}
	return out + l.More
}

// Markdown returns the limit as a row of a table.
func (l *Limit) Markdown() string { return fmt.Sprintf("| %s | %s | %s |", l.What, l.AtMost(), l.Why) }

func thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// All returns the limits in the order in which they apply.
func All() []Limit { return slices.Concat(texts(), runs(), kept(), tests()) }

// texts returns the limits of the text of a policy.
func texts() []Limit {
	return []Limit{
		{What: "a document", Value: document.MaxBytes, Unit: Bytes, More: ", nested 64 deep", Why: "a ConfigMap holds 1 MiB"},
		{What: "kinds of a document", Value: load.MaxKinds, Unit: Count, Why: "each is a policy of its own, which is compiled, watched and kept in the history"},
		{What: "policies of a ConfigMap, each kind counted", Value: source.MaxPolicies, Unit: Count, Why: "edits of other ConfigMaps wait until they are compiled", Measured: "90 s of CPU time for 5,200"},
		{What: "rules of a policy", Value: compile.MaxRules, Unit: Count, Why: "split a larger policy into several", Measured: "0.4 s to compile 200 rules of 300 bytes each"},
		{What: "variables of a policy, a rule or a collection", Value: compile.MaxVariables, Unit: Count, Why: "each is compiled with all previous ones in scope", Measured: "5,000 took 2.3 GB and 9 s"},
		{What: "the text of a rule", Value: compile.MaxRuleBytes, Unit: Bytes, Why: "a rule should fit on one page"},
		{What: "all expressions of a policy", Value: cel.MaxExpressions, Unit: Bytes, Why: "the time to compile a policy", Measured: "0.6 s; 234 KiB took 3.2 s"},
		{What: "an expression", Value: cel.MaxExpression, Unit: Bytes, More: ", 2,000 nodes of syntax tree, 100 open brackets", Why: "compile time grows faster than the length: 100 KB take seconds"},
		{What: "nested loops", Value: cel.MaxNesting, Unit: Count, Why: "each level multiplies the work"},
		{What: "bound variables, nested or chained", Value: cel.MaxBound, Unit: Count, Why: "each loop of a chain over previous results can double the result"},
		{What: "copies of one value made by a chain of loops", Value: cel.MaxCopies, Unit: Count, Why: "otherwise a short text could refer to one value any number of times"},
		{What: "nested comprehensions of a Rego module", Value: rego.MaxComprehensions, Unit: Count, Why: "the compiler of Rego takes twice as long for each level", Measured: "10 s for 22 levels"},
		{What: "expressions of a body of a Rego module", Value: rego.MaxBody, Unit: Count, Why: "the time to order them grows with the third power", Measured: "0.25 s; 800 took more than 6 s"},
		{What: "comparisons of a type of a value of a Rego rule", Value: rego.MaxTypeCost, Unit: Count, Why: "the compiler of Rego compares the parts of a type twice, at each level again: a list of two lists of two lists costs 4 times as much for each level", Measured: "15 levels of objects took 39 s"},
		{What: "a literal regular expression", Value: cel.MaxRegex, Unit: Bytes, More: ", 2,000 instructions", Why: "a short pattern can compile to a large program: `(a{100}){10}` has a thousand instructions", Measured: "a program of 200,000 instructions takes 0.15 s and 48 MiB to compile"},
	}
}

// runs returns the limits of an evaluation.
func runs() []Limit {
	return []Limit{
		{What: "one run of an expression (one item, one candidate)", Value: expr.RunCost, Unit: Cost, Why: "the limit of the API server for a validation rule", Measured: "0.04 s"},
		{What: "one evaluation", Value: expr.EvaluationCost, Unit: Cost, More: ", plus 5,000 per item, up to 25,000,000", Why: "enough for a pool of thousands of nodes, too little for an accidental explosion", Measured: "0.9 s at the upper end"},
		{What: "a text that one call builds", Value: expr.TextBytes, Unit: Bytes, Why: "computed from the arguments before the call", Measured: "a call of replace would have built 810 GB"},
		{What: "what the calls, templates and log lines of one evaluation build", Value: expr.EvaluationBytes, Unit: Bytes, Why: "it does not grow with the number of items, because the memory of the process does not", Measured: "210 MiB resident"},
		{What: "temporary memory of one call", Value: expr.ScratchBytes, Unit: Bytes, Why: "parsing JSON or YAML takes many times the length of the text"},
		{What: "all values that one evaluation builds", Value: expr.EvaluationNodes, Unit: Nodes, More: ", plus 100 per item, up to 2,000,000", Why: "variables may refer to each other's values many times"},
		{What: "a result", Value: value.MaxResultNodes, Unit: Nodes, More: " or 1 MiB of text", Why: "a short text can contain one list many times"},
		{What: "the candidates of a selection", Value: selection.MaxCandidates, Unit: Count, Why: "two lists of thousands have millions of pairs", Measured: "25,000,000 pairs took 2 GB"},
		{What: "one write", Value: eval.MaxBody, Unit: Bytes, Why: "the size of names and values in memory; the API server accepts 3 MiB of JSON", Measured: "3,000 references to one object took 2.7 GB"},
		{What: "all writes of one evaluation", Value: eval.MaxWritten, Unit: Bytes, Why: "they are kept in memory until they are sent; writes to one object that are joined count about what they come to"},
		{What: "the input of a Rego query", Value: rego.MaxInputNodes, Unit: Nodes, More: " or 4 MiB of text", Why: "a part that occurs twice counts twice"},
		{What: "steps of a Rego query", Value: rego.MaxSteps, Unit: Count, Why: "a step is an expression that is evaluated, or a piece of text that a function writes; it costs 20 units"},
		{What: "an evaluation, elapsed time", Value: int(expr.EvaluationTime.Seconds()), Unit: Seconds,
			Why: "a last resort, far above what the other limits allow. Those count work, so that no decision depends on the load of the machine. An evaluation that exceeds the time is retried"},
		{What: "a Rego query, CPU time", Value: int(rego.MaxTime.Seconds()), Unit: Seconds, Why: "also a last resort: the work of a Rego function cannot be counted while it runs. The process that evaluates Rego also has a memory limit, 192 MiB in the chart"},
	}
}

// kept returns the limits of what is kept between evaluations.
func kept() []Limit {
	return []Limit{
		{What: "what one object remembers", Value: eval.MaxRemembered, Unit: Bytes, Why: "`remember` fails above it"},
		{What: "what all objects of a policy remember", Value: eval.MaxRememberedAll, Unit: Bytes, Why: "`remember` fails above it; remembered values outlive the objects", Measured: "2,000 objects had remembered 1.8 GB"},
		{What: "cached results of one object", Value: eval.MaxMemo, Unit: Bytes, Why: "results above it are computed again"},
		{What: "cached results of all objects of a policy", Value: eval.MaxMemoAll, Unit: Bytes, Why: "results above it are computed again", Measured: "2,000 objects had cached 1.8 GB"},
		{What: "cached results of all policies", Value: eval.MaxMemoProcess, Unit: Bytes, Why: "results above it are computed again"},
		{What: "pending runs of debounced rules of a policy, with their objects", Value: eval.MaxPutOff, Unit: Bytes, Why: "above it no run is delayed: the object fails, and is retried", Measured: "a debounce key that differed with each change kept every state of the object"},
		{What: "answers of builtins that call another process, of all objects of a policy that wait for their own writes", Value: eval.MaxAnswers, Unit: Bytes, Why: "a call above it is made again"},
	}
}

// tests returns the limits of policy tests.
func tests() []Limit {
	return []Limit{
		{What: "the cases that the matrices of a document stand for", Value: load.MaxMatrices, Unit: Bytes, Why: "a short document could stand for gigabytes"},
		{What: "writes, calls and errors of a simulation, or of a case of a policy test", Value: simulate.MaxKept, Unit: Bytes, Why: "policies that create objects which they decide about never come to rest"},
		{What: "the same in the controller, for a case of a test beside its policy", Value: policytest.MaxKept, Unit: Bytes, More: "; 20 seconds for all tests of a ConfigMap, which end after 20 cases that fail", Why: "they run beside what the controller keeps", Measured: "up to 250 MiB resident"},
	}
}
