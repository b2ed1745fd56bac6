package brake

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// Restore takes pauses that began when another process led.
func (b *Brakes) Restore(pauses []Pause) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range pauses {
		b.kept[one.Policy] = append(b.kept[one.Policy], one)
	}
}

// Pauses returns the pauses of a policy.
func (b *Brakes) Pauses(policy string) []Pause {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.kept[policy])
	if p := b.policies[policy]; p != nil {
		out = append(out, p.pauses...)
	}
	return out
}

// Resume ends the pauses of a policy that are not newer than an instant, and
// returns the keys to decide about again.
func (b *Brakes) Resume(policy, by string, asOf time.Time) []eval.Key {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.policy(policy)
	b.kept[policy] = slices.DeleteFunc(b.kept[policy], func(one Pause) bool { return !one.Since.After(asOf) })
	p.end("goes on: resumed by "+by, func(one *Pause) bool { return !one.Since.After(asOf) })
	p.changes.begin()
	p.removals.begin()
	return p.keptBack(func(*Kept) bool { return true })
}

// Retain ends the pauses of all policies but some, and drops what is known of their keys: a
// policy that was deleted and is created again begins anew, as with another text.
func (b *Brakes) Retain(there func(policy string) bool) {
	for _, name := range b.names() {
		if !there(name) {
			b.drop(name)
		}
	}
}

// names returns the policies that something is known of.
func (b *Brakes) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Keys(b.policies)), maps.Keys(b.kept))
}

func (b *Brakes) drop(policy string) {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.policy(policy)
	p.pauses = append(p.pauses, b.kept[policy]...)
	delete(b.kept, policy)
	p.end("is no longer paused: the policy was deleted", func(*Pause) bool { return true })
	clear(p.paces)
	p.empty.Store(0)
	clear(p.back)
	p.mark()
}

// begin forgets what was counted.
func (b *bounds) begin() {
	for i := range b.windows {
		b.windows[i] = window{width: b.windows[i].width}
	}
}

func (p *Policy) keptBack(which func(*Kept) bool) (keys []eval.Key) {
	for key, one := range p.back {
		if which(one) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Woken are the keys of a policy to decide about again.
type Woken struct {
	Policy string
	Keys   []eval.Key
}

// SetHolds takes the holds that there are now. It reports what has begun and
// ended, and returns the keys whose holds have ended.
func (b *Brakes) SetHolds(holds []Hold, now time.Time) (out []Woken) {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.holds
	b.holds = nil
	for _, h := range holds {
		if !h.Ended(now) {
			b.holds = append(b.holds, h)
		}
	}
	for _, h := range b.holds {
		if !h.Silent && !holdIn(before, &h) {
			b.news = append(b.news, News{Policy: h.Policy, Kind: HoldBegun, Reason: Held, Text: fmt.Sprintf("%s is held until %s by %s: %s", &h, h.Until.UTC().Format(time.RFC3339), h.By, h.Reason)})
		}
	}
	for _, p := range b.policies {
		p.note()
	}
	for _, h := range before {
		if holdIn(b.holds, &h) {
			continue
		}
		why := "released"
		if h.Ended(now) {
			why = "its time is over"
		}
		if !h.Silent {
			b.news = append(b.news, News{Policy: h.Policy, Kind: HoldEnded, Reason: Held, Text: fmt.Sprintf("%s is no longer held: %s", &h, why)})
		}
		if p := b.policies[h.Policy]; p != nil {
			out = append(out, Woken{h.Policy, p.keptBack(func(k *Kept) bool { return k.Reason == Held })})
		}
	}
	return out
}

func holdIn(list []Hold, of *Hold) bool {
	return slices.ContainsFunc(list, func(h Hold) bool { return h.Name == of.Name && h.Policy == of.Policy })
}

// Uncertain returns the keys of a policy of which a removal is kept back because
// what it reads may be out of date.
func (b *Brakes) Uncertain(policy string) []eval.Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.policies[policy]; p != nil {
		return p.keptBack(func(k *Kept) bool { return k.Reason == Uncertain })
	}
	return nil
}

// State is what the brakes do about a policy now.
type State struct {
	Pauses []Pause
	Holds  []Hold
	// Paced are the keys that have been at their pace for long, those first that have
	// for longest.
	Paced []Paced
	// Kept counts the keys of which something is kept back, by reason.
	Kept map[Reason]int
}

// States returns what the brakes do, by policy.
func (b *Brakes) States(now time.Time) map[string]*State {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]*State{}
	for name, p := range b.policies {
		s := &State{Pauses: slices.Clone(p.pauses), Paced: p.paced(now), Kept: map[Reason]int{}}
		for _, one := range p.back {
			s.Kept[one.Reason]++
		}
		out[name] = s
	}
	for _, h := range b.holds {
		s := out[h.Policy]
		if s == nil {
			s = &State{Kept: map[Reason]int{}}
			out[h.Policy] = s
		}
		s.Holds = append(s.Holds, h)
	}
	return out
}
