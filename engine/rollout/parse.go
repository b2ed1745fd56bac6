package rollout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/selector"
)

// New returns the spec of a rollout of a PolicySet. An error names a field that has no meaning.
func New(of *edictv1.Rollout) (*Spec, error) {
	interval, err := time.ParseDuration(of.Interval)
	if err != nil || interval <= 0 {
		return nil, fmt.Errorf("interval %q is not a duration above 0, such as 10m", of.Interval)
	}
	out := &Spec{Interval: interval, Stop: Stop{Disagreements: NoLimit}}
	for i := range of.Steps {
		step, err := newStep(&of.Steps[i])
		if err != nil {
			return nil, fmt.Errorf("steps[%d]: %w", i, err)
		}
		out.Steps = append(out.Steps, step)
	}
	if s := of.Stop; s != nil {
		if s.Errors != nil {
			out.Stop.Errors = int(*s.Errors)
		}
		if s.Disagreements != "" {
			text, percent := strings.CutSuffix(s.Disagreements, "%")
			if out.Stop.Disagreements, err = strconv.Atoi(text); err != nil {
				return nil, fmt.Errorf("stop.disagreements %q is not a number or a percentage", s.Disagreements)
			}
			out.Stop.Percent = percent
		}
	}
	return out, nil
}

func newStep(of *edictv1.Step) (Step, error) {
	if of.Percent != nil {
		return Step{Percent: int(*of.Percent)}, nil
	}
	if of.Selector == nil {
		return Step{}, errors.New("needs selector or percent")
	}
	s, err := selector.Of(of.Selector)
	if err != nil {
		return Step{}, fmt.Errorf("selector: %w", err)
	}
	return Step{Selector: s}, nil
}
