// Package limits lists the limits that keep one policy from harming the others:
// what they are, why they are so, and what meeting them was measured to take. The
// page of the language shows the same table.
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
	"github.com/edict-dev/edict/engine/value"
)

// Limit is a limit.
type Limit struct {
	// What is limited, Value how much of it there may be, in Unit.
	What  string
	Value int
	Unit  Unit
	// More says what is added to the value; "" when nothing is.
	More string
	// Why the limit is there, and has this value.
	Why string
	// Measured is what it took to meet the limit, on a machine of two cores.
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

// AtMost writes the value with its unit.
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

// Markdown is the limit as a row of a table.
func (l *Limit) Markdown() string { return fmt.Sprintf("| %s | %s | %s |", l.What, l.AtMost(), l.Why) }

func thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// All are the limits, in the order in which they are met.
func All() []Limit { return slices.Concat(texts(), runs(), kept()) }

// texts are the limits of what is written in a policy.
func texts() []Limit {
	return []Limit{
		{What: "a document", Value: document.MaxBytes, Unit: Bytes, More: ", nested 64 deep", Why: "a ConfigMap holds 1 MiB"},
		{What: "rules of a policy", Value: compile.MaxRules, Unit: Count, Why: "what has more is several policies", Measured: "0.4 s to compile 200 rules of 300 bytes each"},
		{What: "variables of a policy, a rule or a collection", Value: compile.MaxVariables, Unit: Count, Why: "each is compiled against all before it", Measured: "5,000 took 2.3 GB and 9 s"},
		{What: "the text of a rule", Value: compile.MaxRuleBytes, Unit: Bytes, Why: "it should fit on a page"},
		{What: "all expressions of a policy", Value: cel.MaxExpressions, Unit: Bytes, Why: "what compiling a policy takes", Measured: "0.6 s; 234 KiB took 3.2 s"},
		{What: "an expression", Value: cel.MaxExpression, Unit: Bytes, More: ", 2,000 nodes of syntax tree, 100 open brackets", Why: "the time to compile grows faster than the length: 100 KB take seconds"},
		{What: "nested loops", Value: cel.MaxNesting, Unit: Count, Why: "each level multiplies the work"},
		{What: "bound variables that stack up, nested or chained", Value: cel.MaxBound, Unit: Count, Why: "a chain of loops over its own results doubles its result each time"},
		{What: "copies of one value that a chain of loops may make", Value: cel.MaxCopies, Unit: Count, Why: "a short text could otherwise name one value any number of times"},
		{What: "a literal pattern", Value: cel.MaxRegex, Unit: Bytes, More: ", 2,000 instructions", Why: "a short pattern can be a large program: `(a{100}){10}` has a thousand instructions", Measured: "a program of 200,000 instructions takes 0.15 s and 48 MiB to make"},
	}
}

// runs are the limits of what a policy does.
func runs() []Limit {
	return []Limit{
		{What: "one run of an expression (one item, one candidate)", Value: expr.RunCost, Unit: Cost, Why: "what the API server allows a validation rule", Measured: "0.04 s"},
		{What: "one evaluation", Value: expr.EvaluationCost, Unit: Cost, More: ", and 5,000 more for every item, up to 25,000,000", Why: "a pool of thousands of nodes works, a bomb does not", Measured: "0.9 s at the upper end"},
		{What: "a text that a call builds", Value: expr.TextBytes, Unit: Bytes, Why: "told from the arguments, before the call is made", Measured: "replace asked for 810 GB"},
		{What: "what the calls, templates and log lines of one evaluation build", Value: expr.EvaluationBytes, Unit: Bytes, Why: "it does not grow with the items: what memory there is does not either", Measured: "210 MiB resident"},
		{What: "what one call takes while it runs", Value: expr.ScratchBytes, Unit: Bytes, Why: "reading a text as JSON or YAML takes many times its length"},
		{What: "all values that one evaluation builds", Value: expr.EvaluationNodes, Unit: Nodes, More: ", and 100 more for every item, up to 2,000,000", Why: "variables may name each other's values many times over"},
		{What: "a result", Value: value.MaxResultNodes, Unit: Nodes, More: " or 1 MiB of text", Why: "a short text can name one list many times"},
		{What: "the candidates of a selection", Value: selection.MaxCandidates, Unit: Count, Why: "two lists of thousands have millions of pairs", Measured: "25,000,000 pairs took 2 GB"},
		{What: "one write", Value: eval.MaxBody, Unit: Bytes, Why: "as names and values take them in memory; the API server takes 3 MiB of JSON", Measured: "3,000 references to one object had 2.7 GB"},
		{What: "all writes of one evaluation", Value: eval.MaxWritten, Unit: Bytes, Why: "they are kept until they are written"},
		{What: "the input of a Rego query", Value: rego.MaxInputNodes, Unit: Nodes, More: " or 4 MiB of text", Why: "a part that stands in it twice counts twice"},
		{What: "steps of a Rego query", Value: rego.MaxSteps, Unit: Count, Why: "a step is 20 cost units: an expression that is tried, or a piece of text that a function writes"},
		{What: "an evaluation, by the clock", Value: int(expr.EvaluationTime.Seconds()), Unit: Seconds,
			Why: "a last resort, far above what the other limits let through: they are counted, so that no decision depends on how busy the machine is. What the clock ended is tried again"},
		{What: "a Rego query, in processor time", Value: int(rego.MaxTime.Seconds()), Unit: Seconds, Why: "a last resort, too: functions of Rego cannot be counted while they run. The process that evaluates it has a limit of memory besides, 192 MiB as the chart has it"},
	}
}

// kept are the limits of what is kept between evaluations.
func kept() []Limit {
	return []Limit{
		{What: "what one object remembers", Value: eval.MaxRemembered, Unit: Bytes, Why: "`remember` fails beyond"},
		{What: "what all objects of a policy remember", Value: eval.MaxRememberedAll, Unit: Bytes, Why: "`remember` fails beyond; it outlives the objects", Measured: "2,000 objects remembered 1.8 GB"},
		{What: "results that are kept for one object", Value: eval.MaxMemo, Unit: Bytes, Why: "what is more is computed again"},
		{What: "results that are kept for all objects of a policy", Value: eval.MaxMemoAll, Unit: Bytes, Why: "what is more is computed again", Measured: "2,000 objects kept 1.8 GB"},
		{What: "results that are kept for all policies", Value: eval.MaxMemoProcess, Unit: Bytes, Why: "what is more is computed again"},
		{What: "what is debounced in a policy, with the objects that it is for", Value: eval.MaxPutOff, Unit: Bytes, Why: "beyond it nothing more is put off: the object fails, and is tried again", Measured: "a debounce key that differs at each change kept every state of the object"},
	}
}
