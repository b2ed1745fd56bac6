package selection

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// maxTraced is how many candidates a trace shows.
const maxTraced = 2000

// Trace tells what became of the candidates.
type Trace struct {
	Total    int         `json:"total"`
	Excluded []Exclusion `json:"excluded,omitempty"`
	// Candidates are in the order in which they came; the last ones of very
	// many are left out.
	Candidates []*CandidateTrace `json:"candidates"`
}

// CandidateTrace is what became of one candidate.
type CandidateTrace struct {
	// Name holds what tells candidates apart: the values of orderBy.
	Name []any `json:"name"`
	// Excluded is the step that dropped it.
	Excluded string   `json:"excluded,omitempty"`
	Points   []Points `json:"points,omitempty"`
	Score    int64    `json:"score"`
	Won      bool     `json:"won,omitempty"`
}

// Points are what a step gave a candidate.
type Points struct {
	Step   string `json:"step"`
	Points int64  `json:"points"`
}

// begin starts the trace of every candidate, if one is wanted.
func (r *plainRun) begin() {
	if !r.Trace {
		return
	}
	r.outcome.Trace = &Trace{Total: len(r.left)}
	for _, c := range r.left[:min(len(r.left), maxTraced)] {
		c.trace = &CandidateTrace{Name: r.name(c)}
		r.outcome.Trace.Candidates = append(r.outcome.Trace.Candidates, c.trace)
	}
}

// name gives what tells a candidate from others. It costs the policy nothing.
func (r *plainRun) name(c *candidate) []any {
	meter := expr.NewMeter(r.Meter.Parent())
	defer meter.Close()
	out := make([]any, 0, len(r.Select.OrderBy))
	for _, p := range r.Select.OrderBy {
		if v, err := p.Eval(r.scope(c), meter); err == nil {
			out = append(out, value.Plain(v))
		}
	}
	return out
}

func (c *CandidateTrace) exclude(step *plan.Step) {
	if c != nil {
		c.Excluded = step.Name
	}
}

func (c *CandidateTrace) points(step *plan.Step, points int64) {
	if c != nil {
		c.Points = append(c.Points, Points{Step: step.Name, Points: points})
		c.Score += points
	}
}

// scored is an answer, which sets the score.
func (c *CandidateTrace) scored(step *plan.Step, v expr.Verdict) {
	if c != nil && v.Keep {
		c.Points = append(c.Points, Points{Step: step.Name, Points: v.Score})
		c.Score = v.Score
	}
}

func (c *CandidateTrace) won() {
	if c != nil {
		c.Won = true
	}
}
