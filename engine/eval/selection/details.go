package selection

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// maxDetailed is how many candidates are kept of a selection with details.
const maxDetailed = 10_000

// Details are what became of the candidates.
type Details struct {
	Total    int
	Excluded []Exclusion
	// Levels are the names of the parts of a candidate.
	Levels []string
	// Take says that several candidates may win.
	Take bool
	// Candidates are in the order in which they came; the last ones of very
	// many are left out.
	Candidates []*CandidateDetails
}

// CandidateDetails are what became of one candidate.
type CandidateDetails struct {
	// Values are its parts, one for each level.
	Values []value.Value
	// Excluded is the step that dropped it, Why the reason where the step's name is
	// none: how much of a budget was left.
	Excluded, Why string
	Points        []Points
	Score         int64
	// Rank counts the candidates that are left after the steps from 1, the best first;
	// 0 is one that was dropped.
	Rank int
	Won  bool
}

// Points are what a step gave a candidate.
type Points struct {
	Step   string `json:"step"`
	Points int64  `json:"points"`
}

// begin starts the details of every candidate, if they are wanted.
func (r *plainRun) begin() {
	if !r.in.Details {
		return
	}
	r.outcome.Details = &Details{Total: len(r.left), Levels: r.in.Select.Names, Take: r.in.Select.Take != nil}
	for _, c := range r.left[:min(len(r.left), maxDetailed)] {
		c.details = &CandidateDetails{Values: c.values}
		r.outcome.Details.Candidates = append(r.outcome.Details.Candidates, c.details)
	}
}

// rank orders the candidates that are left as choose does. It costs the policy
// nothing.
func (r *plainRun) rank() {
	if !r.in.Details {
		return
	}
	meter := expr.NewMeter(r.in.Meter.Parent())
	defer meter.Close()
	order, err := r.order(meter)
	if err != nil {
		return // the selection fails for that
	}
	for place, i := range order {
		if details := r.left[i].details; details != nil {
			details.Rank = place + 1
		}
	}
}

func (c *CandidateDetails) exclude(step *plan.Step) {
	if c != nil {
		c.Excluded = step.Name
	}
}

// Passed reports whether no step dropped the candidate. A take may have left it out.
func (c *CandidateDetails) Passed() bool { return c.Excluded == "" || c.Why != "" }

// took says what a take made of a candidate.
func (c *CandidateDetails) took(excluded, why string) {
	if c != nil {
		c.Excluded, c.Why = excluded, why
	}
}

func (c *CandidateDetails) points(step *plan.Step, points int64) {
	if c != nil {
		c.Points = append(c.Points, Points{Step: step.Name, Points: points})
		c.Score += points
	}
}

// scored is an answer, which sets the score.
func (c *CandidateDetails) scored(step *plan.Step, v expr.Verdict) {
	if c != nil && v.Keep() {
		c.Points = append(c.Points, Points{Step: step.Name, Points: v.Score()})
		c.Score = v.Score()
	}
}

func (c *CandidateDetails) won() {
	if c != nil {
		c.Won = true
	}
}
