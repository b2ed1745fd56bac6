package brake

import (
	"fmt"
	"slices"
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
	a := admission{policy: p, request: r, out: &out, items: map[int]Reason{}}
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
	policy  *Policy
	request Request
	out     *Ruling
	// items are those of which something is kept back: so is what comes after it.
	items map[int]Reason
	// whole says why nothing is written at all.
	whole Reason
	// suspect says that what the policy reads may be out of date.
	suspect bool
}

func (a *admission) writes() bool {
	return slices.ContainsFunc(a.request.Effects, func(e *eval.Effect) bool { return e.Verb != eval.VerbEvent })
}

func (a *admission) run() {
	a.whole = a.slowDown()
	allowed := make([]*eval.Effect, 0, len(a.request.Effects))
	for _, e := range a.request.Effects {
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
	if until := a.policy.brakes.fields.wait(e, a.request.World, a.request.Now); !until.IsZero() {
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
		a.again(a.request.Now.Add(joinedPause))
	}
	return reason
}

// joinedPause is after how long a key is decided about again of which too much
// was kept back.
const joinedPause = time.Second

func (a *admission) pausedRules(rules []string) Reason {
	for i := range a.policy.pauses {
		if one := &a.policy.pauses[i]; one.Rule == "" || slices.Contains(rules, one.Rule) {
			return one.Reason
		}
	}
	for i := range a.policy.brakes.holds {
		if h := &a.policy.brakes.holds[i]; h.Policy == a.policy.name && !h.Ended(a.request.Now) && h.of(a.request.Key, rules) {
			return Held
		}
	}
	return ""
}

// count counts a write, and pauses the policy if it is one too many.
func (a *admission) count(e *eval.Effect) Reason {
	removes := Removes(e)
	if removes {
		if limit, most := a.policy.removals.exceeded(a.request.World.Size, a.policy.share, a.request.Now); limit != nil {
			a.pause(RemovalLimit, "removals", limit, most, e)
			return RemovalLimit
		}
	}
	if limit, most := a.policy.changes.exceeded(a.request.World.Size, a.policy.share, a.request.Now); limit != nil {
		a.pause(ChangeLimit, "writes", limit, most, e)
		return ChangeLimit
	}
	a.policy.changes.add(a.request.Now, 1)
	if removes {
		a.policy.removals.add(a.request.Now, 1)
	}
	return ""
}

func (a *admission) pause(reason Reason, what string, limit *plan.Limit, most int64, e *eval.Effect) {
	of := "its limit"
	all := limit.Value(a.request.World.Size)
	if all != most { // other replicas have the rest
		of = fmt.Sprintf("this replica's part of its limit of %d", all)
	}
	if limit.PerCentOf != "" {
		of += fmt.Sprintf(", %d%% of %s", limit.PerWindow, limit.PerCentOf)
	}
	if all == limit.AtLeast && all > limit.PerWindow*int64(a.request.World.Size(limit.Input))/100 {
		of += fmt.Sprintf(" but at least %d", all)
	}
	first := objectName(e.Target)
	a.policy.pause(Pause{
		Policy: a.policy.name, Revision: a.policy.revision, Reason: reason, First: first, Since: a.request.Now.UTC(), Count: most + 1, Limit: most,
		Message: fmt.Sprintf("the policy %s is paused: it wanted more than %d %s within %s, which is %s; the first that was kept back is %s %s, of the rule %q",
			a.policy.name, most, what, limit.Window, of, e.Verb, first, e.Rules[0]),
	})
}

// pause adds a pause that is new.
func (p *Policy) pause(one Pause) {
	if slices.ContainsFunc(p.pauses, func(other Pause) bool { return other.Rule == one.Rule }) {
		return
	}
	p.pauses = append(p.pauses, one)
	p.note()
	p.brakes.news = append(p.brakes.news, News{Policy: p.name, Kind: Paused, Reason: one.Reason, Text: one.Text(p.brakes.settings.Namespace)})
}

// again has the key decided about again at an instant.
func (a *admission) again(at time.Time) {
	if a.out.Next.IsZero() || at.Before(a.out.Next) {
		a.out.Next = at
	}
}
