package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// SelectAction chooses the best of many candidates by a pipeline of steps.
type SelectAction struct {
	Candidates []Candidate  `yaml:"candidates"`
	Summary    Template     `yaml:"summary"`
	Pipeline   []SelectStep `yaml:"pipeline"`
	OrderBy    []Text       `yaml:"orderBy"`
	Claim      Text         `yaml:"claim"`
	Confirm    *SelectCall  `yaml:"confirm"`
	Then       []Action     `yaml:"then"`
	Otherwise  []Action     `yaml:"otherwise"`
	Pos        document.Position
}

// Candidate is one level of the nested lists that candidates come from.
type Candidate struct {
	As      Text   `yaml:"as"`
	In      Text   `yaml:"in"`
	OrderBy []Text `yaml:"orderBy"`
	Pos     document.Position
}

// SelectStep is one step of the pipeline; exactly one of Filter, Call, Score
// and Prefer is set.
type SelectStep struct {
	// Filter names a step that drops candidates for which Keep is false.
	Filter Text `yaml:"filter"`
	Keep   Text `yaml:"keep"`
	// Call asks a builtin once for all candidates.
	Call      Text              `yaml:"call"`
	Name      Text              `yaml:"name"`
	With      []Entry[Template] `yaml:"with"`
	Candidate []Entry[Template] `yaml:"candidate"`
	OnError   []Action          `yaml:"onError"`
	// Score names a step that adds Points, per candidate or per group.
	Score   Text `yaml:"score"`
	Points  Text `yaml:"points"`
	GroupBy Text `yaml:"groupBy"`
	// Prefer keeps the best non-empty tier.
	Prefer Text `yaml:"prefer"`
	When   Text `yaml:"when"`
	Pos    document.Position
}

// SelectCall asks a builtin about the winner.
type SelectCall struct {
	Call      Text              `yaml:"call"`
	With      []Entry[Template] `yaml:"with"`
	Candidate []Entry[Template] `yaml:"candidate"`
	OnError   []Action          `yaml:"onError"`
	Pos       document.Position
}
