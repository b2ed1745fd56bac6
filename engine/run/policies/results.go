package policies

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// resultOf returns the result of the newest text of a policy; "" while
// that is not known.
func resultOf(p *lifecycle.Policy) history.Result {
	v := p.Newest
	switch {
	case v.TestsPending || v.Unit.Disabled():
		return ""
	case v.Plan != nil && p.RunsNewest():
		return history.Active
	case v.Plan != nil && p.Phase == lifecycle.RollingOut:
		return history.RollingOut
	case v.Plan == nil, p.Report.Event == lifecycle.Failed:
		return history.Refused
	case p.Report.Event == lifecycle.Blocked:
		return history.Waiting
	default:
		return ""
	}
}

// next returns the result of the newest entry after another result. What was in force
// does not become something that never was.
func (s *historyStore) next(e *history.Entry, result history.Result) history.Result {
	switch {
	case e.Result == history.Active, result == history.Waiting && e.Result == history.RollingOut:
		return e.Result
	case result == history.Active, result == history.RollingOut:
		return result
	case e.Result == history.RollingOut: // refused
		return s.ended(e)
	case e.Result == history.Stopped, e.Result == history.RolledBack:
		return e.Result
	default:
		return result
	}
}

// endRollouts records that revisions are no longer rolled out which are not the newest
// texts, or must not run any more, and of the others whether a step has begun.
func (s *historyStore) endRollouts(ctx context.Context, policies *lifecycle.Registry) (failed bool) {
	for id, list := range s.entries {
		v := policies.Get(id).Newest
		for _, e := range slices.Clone(list) {
			if e.Result != history.RollingOut {
				continue
			}
			result := history.RollingOut
			if v == nil || v.Plan == nil || v.Unit.Revision() != e.Revision {
				result = s.ended(e)
			}
			if err := s.store(ctx, e, result, s.wasPartly(e)); err != nil && ctx.Err() == nil {
				failed = true
				s.log.Error("it cannot be noted how far a rollout has come", observe.LogPolicy, id, observe.LogRevision, e.Revision, "error", err.Error())
			}
		}
	}
	return failed
}

// continued records that revisions are no longer the last of their policies, because
// another one is in force.
func (s *historyStore) continued(ctx context.Context) (failed bool) {
	for id, list := range s.entries {
		for _, e := range slices.Clone(list) {
			if e.Result != history.Stopped || history.Good(list) == nil {
				continue
			}
			if err := s.set(ctx, e, history.Active); err != nil && ctx.Err() == nil {
				failed = true
				s.log.Error("it cannot be noted that the policy is there again", observe.LogPolicy, id, "error", err.Error())
			}
		}
	}
	return failed
}

// ended returns the result of a revision whose rollout has ended without it.
func (s *historyStore) ended(e *history.Entry) history.Result {
	if s.wasPartly(e) {
		return history.RolledBack
	}
	return history.Refused
}

// wasPartly reports whether a revision was in force for the objects of some steps.
func (s *historyStore) wasPartly(e *history.Entry) bool {
	return e.Partly || s.stepped(e.Policy, e.Revision)
}
