package brake

import (
	"fmt"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// Done is what became of an effect that was allowed.
type Done struct {
	Effect *eval.Effect
	// Written says that the object was changed, Version what that led to.
	Written bool
	Version string
}

// Settle takes what became of what was allowed.
func (p *Policy) Settle(r Ruling, done []Done, now time.Time) {
	if p == nil || len(done) == 0 {
		return
	}
	p.brakes.lineage.end(done, r.cause)
	if p.brakes.settings.Observe {
		return
	}
	defer p.brakes.tell()
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	for _, d := range done {
		switch {
		case d.Effect.Verb == eval.VerbEvent:
		case !d.Written:
			p.uncount(d.Effect, r.at)
		default:
			p.wrote(d.Effect, r.world.UID(d.Effect.Target), now)
		}
	}
}

func (p *Policy) uncount(e *eval.Effect, at time.Time) {
	p.changes.add(at, -1)
	if Removes(e) {
		p.removals.add(at, -1)
	}
}

// wrote looks whether a write is part of a fight.
func (p *Policy) wrote(e *eval.Effect, uid string, now time.Time) {
	for _, v := range p.brakes.fields.wrote(p.name, e, uid, now) {
		if v.contested {
			p.brakes.news = append(p.brakes.news, News{Policy: p.name, Kind: Contest, Reason: Contested,
				Text: fmt.Sprintf("%s of %s, which the rule %q writes, was changed back by somebody else %d times within %s; it is written once in %s",
					v.path, objectName(e.Target), e.Rules[0], maxFlips, flipWindow, contestedPause)})
			continue
		}
		p.fight(e, v, now)
	}
}

// fight pauses the rules of two policies that write a field in turn.
func (p *Policy) fight(e *eval.Effect, v verdict, now time.Time) {
	other := p.brakes.policy(v.other.policy)
	field := strings.TrimSpace(v.path + " of " + objectName(e.Target))
	for side, one := range []struct {
		*Policy
		rules []string
	}{{p, e.Rules}, {other, v.other.rules}} {
		rival, theirs := other, v.other.rules
		if side == 1 {
			rival, theirs = p, e.Rules
		}
		for _, rule := range one.rules {
			one.pause(Pause{
				Policy: one.name, Rule: rule, Revision: one.revision, Reason: Fight, First: objectName(e.Target), Since: now.UTC(), Count: maxFlips, Limit: maxFlips,
				Message: fmt.Sprintf("the rule %q of the policy %s is paused: it and the rule %q of the policy %s wrote %s in turn, %d times within %s",
					rule, one.name, theirs[0], rival.name, field, maxFlips, flipWindow),
			})
		}
	}
}
