package brake

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

const (
	// paceBurst is how many evaluations of a key may write at once, paceInterval how far
	// apart the later ones are.
	paceBurst    = 30
	paceInterval = time.Second
	// paceReported is after how long at its pace a key is reported.
	paceReported = 10 * time.Minute
	// maxNamed bounds the fields that a report names.
	maxNamed = 3
)

// pace is the token bucket of a key; the one of a key that is not known is full.
type pace struct {
	// full is when the bucket is full again, since when it became empty; zero if it did
	// not since it was full.
	full, since time.Time
	// last are the effects of the last evaluation that emptied it.
	last []*eval.Effect
}

// next returns the earliest time of the next evaluation.
func (b *pace) next() time.Time { return b.full.Add(-(paceBurst - 1) * paceInterval) }

// soon reports whether a key that is due at an instant is due by the passing of time
// alone sooner than its pace allows for long.
func soon(next, now time.Time) bool { return next.After(now) && next.Before(now.Add(paceInterval)) }

// Wait returns until when a key that is at its pace is not to be evaluated; zero if it
// may be now.
func (p *Policy) Wait(key eval.Key, now time.Time) (until time.Time) {
	if p == nil || p.empty.Load() == 0 {
		return until
	}
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	if b := p.paces[key]; b != nil && b.next().After(now) {
		return b.next()
	}
	return until
}

// take takes a token of a key.
func (p *Policy) take(key eval.Key, effects []*eval.Effect, now time.Time) {
	if now.Sub(p.swept) >= paceBurst*paceInterval {
		p.sweep(now)
	}
	p.refill(key, now)
	b := p.paces[key]
	if b == nil {
		b = &pace{full: now}
		p.paces[key] = b
	}
	b.full = b.full.Add(paceInterval)
	if !b.next().After(now) {
		return
	}
	b.last = effects
	if b.since.IsZero() {
		b.since = now
		p.empty.Add(1)
	}
}

// putBack returns the token of an evaluation without a write.
func (p *Policy) putBack(key eval.Key) {
	if b := p.paces[key]; b != nil {
		b.full = b.full.Add(-paceInterval)
	}
}

// refill forgets a key whose bucket is full.
func (p *Policy) refill(key eval.Key, now time.Time) {
	b := p.paces[key]
	if b == nil || b.full.After(now) {
		return
	}
	delete(p.paces, key)
	if !b.since.IsZero() {
		p.empty.Add(-1)
	}
}

// sweep forgets all keys whose buckets are full.
func (p *Policy) sweep(now time.Time) {
	p.swept = now
	for key := range p.paces {
		p.refill(key, now)
	}
}

// Paced is a key that has been at its pace for so long that it is reported.
type Paced struct {
	Policy string
	Key    eval.Key
	Since  time.Time
	// Effects are those that it wrote last; none if it is only due again and again.
	Effects []*eval.Effect
	// Manager is another field manager of the same fields; empty if unknown.
	Manager string
}

// paced returns the keys to report, those first that have been at their pace for longest.
func (p *Policy) paced(now time.Time) (out []Paced) {
	p.sweep(now)
	for key, b := range p.paces {
		if !b.since.IsZero() && now.Sub(b.since) >= paceReported {
			out = append(out, Paced{Policy: p.name, Key: key, Since: b.since, Effects: b.last})
		}
	}
	slices.SortFunc(out, func(a, b Paced) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Key.String(), b.Key.String()))
	})
	return out
}

// String describes the key with rule, field and the other manager.
func (p *Paced) String() string {
	out := fmt.Sprintf("the policy %s has been at its pace about %s, one evaluation a second, for %s: ", p.Policy, p.Key, paceReported)
	if len(p.Effects) == 0 {
		return out + "it is due again within a second each time"
	}
	return out + Describe(p.Effects) + AlsoWrites(p.Manager)
}

// AlsoWrites returns the end of a sentence that names another manager of the same fields.
func AlsoWrites(manager string) string {
	if manager == "" {
		return ""
	}
	return ", and " + manager + " writes it, too: stop one of the two"
}

// of names a change of what is written.
func (c change) of(e *eval.Effect) string {
	switch {
	case c.path != "":
		return c.path + " of " + objectName(e.Target)
	case c.removed:
		return objectName(e.Target) + " (deletes it)"
	}
	return objectName(e.Target) + " (makes it)"
}

// Describe sums up which rules write which fields.
func Describe(effects []*eval.Effect) string {
	var rules, fields []string
	for _, e := range effects {
		if e.Verb == eval.VerbEvent {
			continue
		}
		for _, rule := range e.Rules {
			rules = append(rules, strconv.Quote(rule))
		}
		for _, c := range changes(e) {
			fields = append(fields, c.of(e))
		}
	}
	slices.Sort(rules)
	slices.Sort(fields)
	rules, fields = slices.Compact(rules), slices.Compact(fields)
	fields = fields[:min(len(fields), maxNamed)]
	if len(rules) == 1 {
		return fmt.Sprintf("the rule %s writes %s", rules[0], strings.Join(fields, ", "))
	}
	return fmt.Sprintf("the rules %s write %s", strings.Join(rules, ", "), strings.Join(fields, ", "))
}
