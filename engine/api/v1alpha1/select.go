package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// SelectAction chooses the best of many candidates by a pipeline of steps.
type SelectAction struct {
	// Candidates are nested lists; a candidate has one item of each.
	Candidates []Candidate `yaml:"candidates" schema:"required"`
	// Summary begins the text about what became of the candidates; total is their number.
	Summary Template `yaml:"summary"`
	// Pipeline are the steps that drop and score candidates, in their order.
	Pipeline []SelectStep `yaml:"pipeline"`
	// OrderBy decides between candidates of equal score.
	OrderBy []Text `yaml:"orderBy"`
	// Take lets several candidates win, as many as fit into a budget.
	Take *SelectTake `yaml:"take"`
	// Claim is what the winner takes from later items of the rule, which know it as claimed.
	Claim Text `yaml:"claim"`
	// Confirm calls a builtin about the winner.
	Confirm *SelectCall `yaml:"confirm"`
	// Together is done once, before then, with the list of the winners as taken, also an
	// empty one; for a select with take.
	Together []Action `yaml:"together"`
	// Then is done with the winner, with take for each; score and summary are known there.
	Then []Action `yaml:"then"`
	// Otherwise is done when no candidate is left; summary is known there.
	Otherwise []Action `yaml:"otherwise"`
	Pos       document.Position
}

// Candidate is one level of the nested lists that candidates come from.
type Candidate struct {
	// As is the name of an item in expressions.
	As Text `yaml:"as" schema:"required"`
	// In is the list; it may use the items of the lists before it.
	In Text `yaml:"in" schema:"required"`
	// OrderBy are expressions that the items are sorted by.
	OrderBy []Text `yaml:"orderBy"`
	Pos     document.Position
}

// SelectStep is one step of the pipeline; exactly one of Filter, Call, Score
// and Prefer is set.
type SelectStep struct {
	// Filter names a step that drops candidates for which Keep is false.
	Filter Text `yaml:"filter"`
	// Keep reports whether a candidate is kept.
	Keep Text `yaml:"keep"`
	// Call asks a builtin once for all candidates.
	Call Text `yaml:"call"`
	// Name is that of a step with call or prefer.
	Name Text `yaml:"name"`
	// With are the fields of the request.
	With []Entry[Template] `yaml:"with"`
	// Candidate are the fields of each candidate in the request.
	Candidate []Entry[Template] `yaml:"candidate"`
	// OnError is done when the call fails; error.message is known there.
	OnError []Action `yaml:"onError"`
	// Score names a step that adds Points, per candidate or per group.
	Score Text `yaml:"score"`
	// Points are added to the score.
	Points Text `yaml:"points"`
	// GroupBy returns the group of a candidate; points may use members then.
	GroupBy Text `yaml:"groupBy"`
	// Prefer keeps the best non-empty tier.
	Prefer Text `yaml:"prefer"`
	// When switches the step off; it knows no candidate.
	When Text `yaml:"when"`
	Pos  document.Position
}

// SelectTake says how many candidates win: in their order, the best first, as many as
// fit. At least one of Budget and Max is set.
type SelectTake struct {
	// Weight is what a candidate takes of the budget, a number of at least 0; default 1.
	Weight Text `yaml:"weight"`
	// Budget is how much the winners may take together, a number.
	Budget Text `yaml:"budget"`
	// SkipTooLarge goes on after a candidate that does not fit; otherwise nothing after
	// it is taken.
	SkipTooLarge bool `yaml:"skipTooLarge"`
	// Max is how many candidates win at most.
	Max Text `yaml:"max"`
	Pos document.Position
}

// SelectCall asks a builtin about the winner.
type SelectCall struct {
	// Call is the name of the builtin.
	Call Text `yaml:"call" schema:"required"`
	// With are the fields of the request.
	With []Entry[Template] `yaml:"with"`
	// Candidate are the fields of the winner in the request.
	Candidate []Entry[Template] `yaml:"candidate"`
	// OnError is done when the call fails; error.message is known there.
	OnError []Action `yaml:"onError"`
	Pos     document.Position
}
