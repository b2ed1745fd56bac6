package brake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// Request asks which effects of a decision are written now.
type Request struct {
	Key     eval.Key
	Effects []*eval.Effect
	Cause   Cause
	Now     time.Time
	World   World
}

// World is what the brakes have to know of what a policy reads.
type World interface {
	// Size returns how many objects an input has, or for -1 the policy.
	Size(input int) int
	// UID returns the uid of an object as it was decided on; "" if it did not exist.
	UID(id world.ID) string
	// Suspect reports whether what the policy reads may be out of date. It is asked
	// only about removals.
	Suspect() bool
}

// Ruling says what is written now.
type Ruling struct {
	Allowed []*eval.Effect
	Back    []Back
	// Next is when the key is to be decided about again; zero is when something
	// wakes it.
	Next time.Time
	// Runaway says what never comes to rest, for brakes that only observe; "" is
	// nothing.
	Runaway string
	cause   Cause
	at      time.Time
	world   World
}

// Back is an effect that is kept back.
type Back struct {
	Effect *eval.Effect
	Reason Reason
}

// Done is what became of an effect that was allowed.
type Done struct {
	Effect *eval.Effect
	// Written says that the object was changed, Version what that led to.
	Written bool
	Version string
}

// Idle reports whether nothing is known of the policy's keys that an evaluation
// without effects would change.
func (p *Policy) Idle() bool { return p == nil || p.marks.Load() == 0 }

// Admit says which effects are written now. What is allowed counts as written,
// until Settle says otherwise.
func (p *Policy) Admit(r Request) Ruling {
	if p == nil || len(r.Effects) == 0 && p.Idle() {
		return Ruling{Allowed: r.Effects, at: r.Now}
	}
	return p.admit(r)
}

func (p *Policy) admit(r Request) Ruling {
	out := Ruling{Allowed: r.Effects, at: r.Now, cause: r.next(p.name), world: r.World}
	defer p.brakes.tell()
	a := admission{Policy: p, Request: r, out: &out, items: map[int]Reason{}}
	a.suspect = slices.ContainsFunc(r.Effects, Shrinks) && r.World.Suspect()
	p.brakes.mu.Lock()
	switch {
	case len(r.Effects) == 0:
	case p.brakes.settings.Observe:
		a.observe()
	default:
		a.run()
	}
	p.keep(r.Key, out.Back, r.Now)
	p.mark()
	p.brakes.mu.Unlock()
	p.brakes.lineage.begin(out.Allowed, out.cause)
	return out
}

// mark notes whether something is known of keys that evaluations have to look at.
func (p *Policy) mark() { p.marks.Store(int64(len(p.back) + len(p.timed))) }

// next is the cause that the writes of a key are of other keys.
func (r *Request) next(policy string) Cause {
	out := Cause{Depth: r.Cause.Depth + 1, Since: r.Cause.Since, Policy: policy, Known: true, at: r.Now}
	if r.Cause.Depth == 0 {
		out.Since = r.Now
	}
	if len(r.Effects) > 0 {
		out.Rule = r.Effects[0].Rules[0]
	}
	return out
}

type admission struct {
	*Policy
	Request
	out *Ruling
	// items are those of which something is kept back: so is what comes after it.
	items map[int]Reason
	// whole says why nothing is written at all.
	whole Reason
	// suspect says that what the policy reads may be out of date.
	suspect bool
}

// observe allows everything, and notes a chain of writes without an end.
func (a *admission) observe() {
	if a.writes() && a.chained(a.Key, a.Cause, a.Now) >= minChainWrites && a.Cause.Depth >= maxChain {
		found := a.describe()
		a.out.Runaway = found.text(a.name, a.Key)
	}
}

func (a *admission) writes() bool {
	return slices.ContainsFunc(a.Effects, func(e *eval.Effect) bool { return e.Verb != eval.VerbEvent })
}

func (a *admission) run() {
	a.whole = a.slowDown()
	allowed := make([]*eval.Effect, 0, len(a.Effects))
	for _, e := range a.Effects {
		reason := a.judge(e)
		if reason == "" {
			allowed = append(allowed, e)
			continue
		}
		a.items[e.Item] = reason
		a.out.Back = append(a.out.Back, Back{e, reason})
	}
	a.out.Allowed = allowed
}

// judge says why an effect is kept back; "" is that it is not.
func (a *admission) judge(e *eval.Effect) Reason {
	if reason := a.paused(e); reason != "" {
		return reason
	}
	if reason := a.items[e.Item]; reason != "" {
		return reason
	}
	switch {
	case a.whole != "":
		return a.whole
	case e.Verb == eval.VerbEvent:
		return ""
	}
	if until := a.brakes.fields.wait(e, a.World, a.Now); !until.IsZero() {
		a.again(until)
		return Contested
	}
	if a.suspect && Shrinks(e) {
		return Uncertain
	}
	return a.count(e)
}

// paused says why a person or a pause keeps an effect back. One that was joined
// with the write of a rule that is not kept back is decided again, apart.
func (a *admission) paused(e *eval.Effect) Reason {
	reason := a.pausedRules(e.Rules)
	if reason != "" && slices.ContainsFunc(e.Rules, func(rule string) bool { return a.pausedRules([]string{rule}) == "" }) {
		a.again(a.Now.Add(joinedPause))
	}
	return reason
}

// joinedPause is after how long a key is decided about again of which too much
// was kept back.
const joinedPause = time.Second

func (a *admission) pausedRules(rules []string) Reason {
	for i := range a.pauses {
		if one := &a.pauses[i]; one.Rule == "" || slices.Contains(rules, one.Rule) {
			return one.Reason
		}
	}
	for i := range a.brakes.holds {
		if h := &a.brakes.holds[i]; h.Policy == a.name && !h.Ended(a.Now) && h.of(a.Key, rules) {
			return Held
		}
	}
	return ""
}

// count counts a write, and pauses the policy if it is one too many.
func (a *admission) count(e *eval.Effect) Reason {
	removes := Removes(e)
	if removes {
		if limit, most := a.removals.exceeded(a.World.Size, a.Now); limit != nil {
			a.pause(RemovalLimit, "removals", limit, most, e)
			return RemovalLimit
		}
	}
	if limit, most := a.changes.exceeded(a.World.Size, a.Now); limit != nil {
		a.pause(ChangeLimit, "writes", limit, most, e)
		return ChangeLimit
	}
	a.changes.add(a.Now, 1)
	if removes {
		a.removals.add(a.Now, 1)
	}
	return ""
}

func (a *admission) pause(reason Reason, what string, limit *plan.Limit, most int64, e *eval.Effect) {
	of := ""
	if limit.PerCentOf != "" {
		of = fmt.Sprintf(", %d%% of %s", limit.PerWindow, limit.PerCentOf)
	}
	first := objectName(e.Target)
	a.Policy.pause(Pause{
		Policy: a.name, Revision: a.revision, Reason: reason, First: first, Since: a.Now.UTC(), Count: most + 1, Limit: most,
		Message: fmt.Sprintf("the policy %s is paused: it wanted more than %d %s within %s, which is its limit%s; the first that was kept back is %s %s, of the rule %q",
			a.name, most, what, limit.Window, of, e.Verb, first, e.Rules[0]),
	})
}

// pause adds a pause that is new.
func (p *Policy) pause(one Pause) {
	if slices.ContainsFunc(p.pauses, func(other Pause) bool { return other.Rule == one.Rule }) {
		return
	}
	p.pauses = append(p.pauses, one)
	p.note()
	p.brakes.news = append(p.brakes.news, News{Policy: p.name, Kind: Paused, Reason: one.Reason, Text: one.String()})
}

// again has the key decided about again at an instant.
func (a *admission) again(at time.Time) {
	if a.out.Next.IsZero() || at.Before(a.out.Next) {
		a.out.Next = at
	}
}

// slowDown says whether the key has to wait because of its own writes.
func (a *admission) slowDown() Reason {
	if !a.writes() {
		return ""
	}
	s := a.slowed[a.Key]
	if s != nil && s.over(a.Now) {
		delete(a.slowed, a.Key)
		s = nil
	}
	if s == nil {
		if a.chained(a.Key, a.Cause, a.Now) < minWrites || !a.Cause.runs(a.Now) {
			return ""
		}
		s = &slowed{Slowed: a.describe(), until: a.Now.Add(firstPause)}
		a.slowed[a.Key] = s
		a.brakes.news = append(a.brakes.news, News{Policy: a.name, Kind: Slow, Reason: SlowedDown, Text: "slowed down: " + s.text(a.name, a.Key)})
	}
	if until := s.pause(a.Cause, a.Now); !until.IsZero() {
		a.again(until)
		return SlowedDown
	}
	return ""
}

// describe sums up what a key writes that is slowed down.
func (a *admission) describe() Slowed {
	rules, wanted := map[string]bool{}, map[string]bool{}
	for _, e := range a.Effects {
		for _, rule := range e.Rules {
			rules[rule] = true
		}
		for _, c := range changes(e) {
			if len(wanted) < maxNamed {
				wanted[strings.TrimSpace(c.path+" of "+objectName(e.Target))] = true
			}
		}
	}
	out := Slowed{Rules: slices.Sorted(maps.Keys(rules)), Fields: slices.Sorted(maps.Keys(wanted)), Writes: a.Cause.Depth}
	if a.Cause.Policy != a.name {
		out.Others = []string{fmt.Sprintf("the rule %q of the policy %s", a.Cause.Rule, a.Cause.Policy)}
	}
	return out
}

// maxNamed bounds the fields that a report names.
const maxNamed = 3

func (s *Slowed) text(policy string, key eval.Key) string {
	others := ""
	if len(s.Others) > 0 {
		others = ", in turn with " + strings.Join(s.Others, ", ")
	}
	return fmt.Sprintf("the policy %s never comes to rest about %s: %d writes led to each other and nothing else changed; the rule %q writes %s%s",
		policy, key, s.Writes, strings.Join(s.Rules, ", "), strings.Join(s.Fields, ", "), others)
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
