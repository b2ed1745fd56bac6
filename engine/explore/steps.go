package explore

import (
	"fmt"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
)

// selectsOf returns the selections of a rule.
func selectsOf(r *plan.Rule) (out []*plan.Select) {
	for a := range r.Actions() {
		if s, ok := a.(*plan.Select); ok {
			out = append(out, s)
		}
	}
	return out
}

// selections notes what the steps of a rule's selections did.
func (n *noter) selections(rule string, selects []*plan.Select) {
	for _, s := range selects {
		for i := range s.Steps {
			step := &s.Steps[i]
			n.add(step.Pos, "step", step.Name, n.step(rule, step), "")
		}
		if s.Take != nil {
			n.add(s.Take.Pos, "step", "take", n.taken(rule), "")
		}
	}
}

// step says what a step did in all selections of a rule.
func (n *noter) step(rule string, step *plan.Step) string {
	dropped, total := 0, 0
	var points []int64
	for i := range n.doc.Selections {
		if s := &n.doc.Selections[i]; s.Rule == rule {
			total += len(s.Candidates)
			for j := range s.Candidates {
				if s.Candidates[j].DroppedBy == step.Name {
					dropped++
				}
			}
			points = append(points, pointsOf(s, step.Name)...)
		}
	}
	text := fmt.Sprintf("excluded %d of %d", dropped, total)
	if len(points) == 0 {
		return text
	}
	low, high := points[0], points[0]
	for _, p := range points {
		low, high = min(low, p), max(high, p)
	}
	if step.Kind == plan.Score {
		return fmt.Sprintf("%d to %d points", low, high)
	}
	return fmt.Sprintf("%s, %d to %d points", text, low, high)
}

// taken says how many candidates the selections of a rule took.
func (n *noter) taken(rule string) string {
	taken, total := 0, 0
	for i := range n.doc.Selections {
		if s := &n.doc.Selections[i]; s.Rule == rule {
			for j := range s.Candidates {
				if s.Candidates[j].Taken {
					taken++
				}
				if s.Candidates[j].Rank > 0 {
					total++
				}
			}
		}
	}
	return fmt.Sprintf("took %d of %d", taken, total)
}

func pointsOf(s *record.SelectionDocument, step string) (out []int64) {
	for i := range s.Candidates {
		if p, ok := s.Candidates[i].Points[step]; ok {
			out = append(out, p)
		}
	}
	return out
}
