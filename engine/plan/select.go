package plan

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// Select chooses one of many candidates, or several: they come from nested lists, go
// through the steps of a pipeline in order, and the best of what is left wins.
type Select struct {
	Pos document.Position
	// ID tells the selections of a policy apart.
	ID     int
	Levels []Level
	// Names are the names of the levels: what a candidate consists of.
	Names []string
	// Summary begins the text that says what became of the candidates.
	Summary *cel.Template
	Steps   []Step
	// OrderBy decides between candidates of equal score.
	OrderBy []*cel.Program
	// Take lets several win; nil is one.
	Take *Take
	// Claim returns what the winner takes from later items of the rule.
	Claim   *cel.Program
	Confirm *Ask
	// Together is done once with all that Take takes, Then with each winner, Otherwise
	// without one.
	Together, Then, Otherwise []Action
	// Shared says that the candidates follow from the first level's list alone,
	// so that selections from the same list share what they know of them.
	Shared bool
}

// Level is one of the nested lists that candidates come from; it sees the
// items of the levels before it.
type Level struct {
	As      string
	In      *cel.Program
	OrderBy []*cel.Program
}

// StepKind says what a step does.
type StepKind int

// The kinds of steps.
const (
	// Filter drops the candidates for which Expression is false.
	Filter StepKind = iota
	// Query asks a builtin, which drops candidates and returns the others their
	// score.
	Query
	// Score adds Expression to the score, per candidate or per group.
	Score
	// Prefer keeps the candidates for which Expression is largest.
	Prefer
)

// Step is one step of a pipeline.
type Step struct {
	Pos  document.Position
	Kind StepKind
	Name string
	// When switches the step off; it knows no candidate.
	When       *cel.Program
	Expression *cel.Program
	// GroupBy makes Expression one of a group, under the name members.
	GroupBy *cel.Program
	Ask     *Ask
	// Stage is Expression taken apart, if it is one of a candidate, and Fold if
	// it is one of a group; GroupOwn says that the group is a property of the
	// candidate alone.
	Stage    *analyze.Stage
	Fold     *analyze.Fold
	GroupOwn bool
}

// Taken is the name of the list of the winners in Together.
const Taken = "taken"

// Take says how many candidates win: in their order, as many as fit.
type Take struct {
	Pos document.Position
	// Weight returns what a candidate takes of the budget; nil is 1. Own says that it
	// is a property of the candidate alone.
	Weight *cel.Program
	Own    bool
	// Budget bounds the sum of the weights, Max the number of the winners; nil is no
	// bound.
	Budget, Max *cel.Program
	// SkipTooLarge goes on after a candidate that does not fit.
	SkipTooLarge bool
}

// Ask is a question to a builtin about candidates.
type Ask struct {
	Pos             document.Position
	Query           string
	With, Candidate *cel.Template
	// Own says that Candidate is a property of the candidate alone.
	Own     bool
	OnError []Action
}
