package brake

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// Request asks which effects of a decision are written now.
type Request struct {
	Key     eval.Key
	Effects []*eval.Effect
	// Next is when the key is due by the passing of time; zero is never.
	Next, Now time.Time
	World     World
}

// World is what the brakes have to know of what a policy reads.
type World interface {
	// Size returns how many objects an input has, or for -1 the policy.
	Size(input int) int
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
	at   time.Time
	// key is the key whose token is returned if the evaluation writes no object, or nil.
	key *eval.Key
}

// Back is an effect that is kept back.
type Back struct {
	Effect *eval.Effect
	Reason Reason
}

// Idle reports whether an evaluation without effects, whose key is due at next, leaves the
// state of its key unchanged.
func (p *Policy) Idle(next, now time.Time) bool {
	return p == nil || p.marks.Load() == 0 && !soon(next, now)
}

// Admit says which effects are written now. What is allowed counts as written,
// until Settle says otherwise.
func (p *Policy) Admit(r Request) Ruling {
	if p == nil || len(r.Effects) == 0 && p.Idle(r.Next, r.Now) {
		return Ruling{Allowed: r.Effects, at: r.Now}
	}
	return p.admit(r)
}

func (p *Policy) admit(r Request) Ruling {
	out := Ruling{Allowed: r.Effects, at: r.Now}
	defer p.brakes.tell()
	a := admission{policy: p, request: r, out: &out, items: map[int]Reason{}}
	a.suspect = slices.ContainsFunc(r.Effects, Shrinks) && r.World.Suspect()
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	switch {
	case p.brakes.settings.Virtual:
		a.foresee()
	case len(r.Effects) > 0:
		a.run()
	}
	a.pace()
	p.keep(r.Key, out.Back, r.Now)
	p.mark()
	return out
}

// mark notes whether something is known of keys that evaluations have to look at.
func (p *Policy) mark() { p.marks.Store(int64(len(p.back))) }

type admission struct {
	policy  *Policy
	request Request
	out     *Ruling
	// items are those of which something is kept back: so is what comes after it.
	items map[int]Reason
	// suspect says that what the policy reads may be out of date.
	suspect bool
}

// pace takes a token if the key writes or is due again within a second.
func (a *admission) pace() {
	due := soon(a.request.Next, a.request.Now)
	if !due && (a.policy.brakes.settings.Virtual || !slices.ContainsFunc(a.out.Allowed, writes)) {
		return
	}
	a.policy.take(a.request.Key, a.out.Allowed, a.request.Now)
	if !due {
		a.out.key = &a.request.Key
	}
}

func writes(e *eval.Effect) bool { return e.Verb != eval.VerbEvent }

func (a *admission) run() {
	allowed := make([]*eval.Effect, 0, len(a.request.Effects))
	for _, e := range a.request.Effects {
		reason := a.judge(e)
		if reason == "" {
			allowed = append(allowed, e)
			continue
		}
		a.items[e.Item] = reason
		for _, item := range e.Also {
			a.items[item] = reason
		}
		a.out.Back = append(a.out.Back, Back{e, reason})
	}
	a.out.Allowed = allowed
}

// foresee counts the writes and notes the pauses that a cluster would have. Nothing is held
// back.
func (a *admission) foresee() {
	p, now := a.policy, a.request.Now
	for _, e := range a.request.Effects {
		if writes(e) && a.count(e) != "" {
			p.count(e, now)
		}
	}
	for i := range p.pauses {
		one := &p.pauses[i]
		one.Count = max(one.Count, p.changes.count(one.limit, now), p.removals.count(one.limit, now))
	}
}

// judge says why an effect is kept back; "" is that it is not.
func (a *admission) judge(e *eval.Effect) Reason {
	if reason := a.paused(e); reason != "" {
		return reason
	}
	if reason := a.items[e.Item]; reason != "" {
		return reason
	}
	if !writes(e) {
		return ""
	}
	if a.suspect && Shrinks(e) {
		return Uncertain
	}
	return a.count(e)
}

// paused says why a person or a pause keeps an effect back. One that was joined
// with the write of a rule that is not held is decided again, apart.
func (a *admission) paused(e *eval.Effect) Reason {
	if pauses := a.policy.pauses; len(pauses) > 0 {
		return pauses[0].Reason
	}
	if !a.held(e.Rules) {
		return ""
	}
	if slices.ContainsFunc(e.Rules, func(rule string) bool { return !a.held([]string{rule}) }) {
		a.out.Next = a.request.Now.Add(joinedHold)
	}
	return Held
}

// joinedHold is after how long a key is decided about again of which too much
// was kept back.
const joinedHold = time.Second

func (a *admission) held(rules []string) bool {
	return slices.ContainsFunc(a.policy.brakes.holds, func(h Hold) bool {
		return h.Policy == a.policy.name && !h.Ended(a.request.Now) && h.of(a.request.Key, rules)
	})
}

// count counts a write, and pauses the policy if it is one too many.
func (a *admission) count(e *eval.Effect) Reason {
	if Removes(e) {
		if limit, most := a.policy.removals.exceeded(a.request.World.Size, a.request.Now); limit != nil {
			a.pause(RemovalLimit, "removals", limit, most, e)
			return RemovalLimit
		}
	}
	if limit, most := a.policy.changes.exceeded(a.request.World.Size, a.request.Now); limit != nil {
		a.pause(ChangeLimit, "writes", limit, most, e)
		return ChangeLimit
	}
	a.policy.count(e, a.request.Now)
	return ""
}

// count counts a write.
func (p *Policy) count(e *eval.Effect, at time.Time) {
	p.changes.add(at, 1)
	if Removes(e) {
		p.removals.add(at, 1)
	}
}

func (a *admission) pause(reason Reason, what string, limit *plan.Limit, most int64, e *eval.Effect) {
	of := "its limit"
	if limit.PerCentOf != "" {
		of += fmt.Sprintf(", %d%% of %s", limit.PerWindow, limit.PerCentOf)
	}
	if most == limit.AtLeast && most > limit.PerWindow*int64(a.request.World.Size(limit.Input))/100 {
		of += fmt.Sprintf(" but at least %d", most)
	}
	first := objectName(e.Target)
	a.policy.pause(Pause{
		Policy: a.policy.name, Revision: a.policy.revision, Reason: reason, First: first, Since: a.request.Now.UTC(), Count: most + 1, Limit: most, limit: limit, effect: e,
		Message: fmt.Sprintf("the policy %s is paused: it wanted more than %d %s within %s, which is %s; the first that was kept back is %s %s, of the rule %q",
			a.policy.name, most, what, limit.Window, of, e.Verb, first, e.Rules[0]),
	})
}

// pause adds a pause, unless there is one.
func (p *Policy) pause(one Pause) {
	if len(p.pauses) > 0 {
		return
	}
	p.pauses = append(p.pauses, one)
	p.brakes.news = append(p.brakes.news, News{Policy: p.name, Kind: Paused, Reason: one.Reason, Text: one.Text(), Effect: one.effect})
}

// Done is the outcome of an allowed effect.
type Done struct {
	Effect *eval.Effect
	// Written is true if the object was changed.
	Written bool
}

// Settle records the outcomes of the allowed effects.
func (p *Policy) Settle(r Ruling, done []Done) {
	if p == nil || len(done) == 0 {
		return
	}
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	written := false
	for _, d := range done {
		switch {
		case !writes(d.Effect):
		case d.Written:
			written = true
		default:
			p.uncount(d.Effect, r.at)
		}
	}
	if r.key != nil && !written {
		p.putBack(*r.key)
	}
}

func (p *Policy) uncount(e *eval.Effect, at time.Time) {
	p.changes.add(at, -1)
	if Removes(e) {
		p.removals.add(at, -1)
	}
}
