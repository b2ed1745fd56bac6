package brake

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// Brakes are those of policies that share a world. They are safe for concurrent
// use.
type Brakes struct {
	settings Settings
	// changed is called when something is new that is to be kept or reported.
	changed func()

	mu       sync.Mutex
	policies map[string]*Policy
	holds    []Hold
	// kept are pauses that were read and whose policies do not run yet.
	kept map[string][]Pause
	news []News
}

// New makes brakes. changed is called, by any goroutine and with nothing held,
// when there are news; nil is nobody.
func New(s Settings, changed func()) *Brakes {
	if changed == nil {
		changed = func() {}
	}
	return &Brakes{settings: s, changed: changed, policies: map[string]*Policy{}, kept: map[string][]Pause{}}
}

// Policy is the state of the brakes of one policy, whichever revision of it is in
// force. A nil Policy brakes nothing.
type Policy struct {
	brakes *Brakes
	name   string
	// marks is how many keys have something that evaluations without effects have to look
	// at, empty how many were at their pace since their buckets were full.
	marks, empty atomic.Int64
	// apart is true if a rule is held.
	apart atomic.Bool
	// What follows is guarded by Brakes.mu.
	revision string
	changes  bounds
	removals bounds
	pauses   []Pause
	back     map[eval.Key]*Kept
	paces    map[eval.Key]*pace
	// swept is when those were last dropped whose buckets are full.
	swept time.Time
}

// Policy returns the state of a policy.
func (b *Brakes) Policy(name string) *Policy {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policy(name)
}

func (b *Brakes) policy(name string) *Policy {
	p := b.policies[name]
	if p == nil {
		p = &Policy{brakes: b, name: name, back: map[eval.Key]*Kept{}, paces: map[eval.Key]*pace{}}
		b.policies[name] = p
		p.note()
	}
	return p
}

// note notes whether some rule is held.
func (p *Policy) note() {
	p.apart.Store(slices.ContainsFunc(p.brakes.holds, func(h Hold) bool { return h.Policy == p.name && h.Rule != "" }))
}

// Apart returns the rules that are held about a key, while others of the policy are
// not.
func (p *Policy) Apart(key eval.Key) (rules []string) {
	if p == nil || !p.apart.Load() {
		return nil
	}
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	for i := range p.brakes.holds {
		if h := &p.brakes.holds[i]; h.Policy == p.name && h.Rule != "" && h.of(key, []string{h.Rule}) {
			rules = append(rules, h.Rule)
		}
	}
	return rules
}

// Adopt takes over another revision of the policy. A pause was about what
// another text did: it ends.
func (p *Policy) Adopt(next *plan.Policy) {
	if p == nil {
		return
	}
	defer p.brakes.tell()
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	p.changes.adopt(next.Limits.Changes, p.brakes.settings.Default.Changes, p.brakes.settings.Max.Changes)
	p.removals.adopt(next.Limits.Removals, p.brakes.settings.Default.Removals, p.brakes.settings.Max.Removals)
	if p.revision == next.Revision {
		return
	}
	p.pauses = append(p.pauses, p.brakes.kept[p.name]...)
	delete(p.brakes.kept, p.name)
	p.revision = next.Revision
	p.end("goes on: its text has changed", func(one *Pause) bool { return one.Revision != "" && one.Revision != next.Revision })
	for i := range p.pauses { // those that were restored are of the same text
		p.pauses[i].Revision = next.Revision
	}
}

// EndSince ends the pauses that began at an instant or later.
func (p *Policy) EndSince(begun time.Time, why string) {
	if p == nil {
		return
	}
	defer p.brakes.tell()
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	p.end("goes on: "+why, func(one *Pause) bool { return !one.Since.Before(begun) })
}

// end ends pauses; what says what becomes of what was paused.
func (p *Policy) end(what string, ended func(*Pause) bool) {
	var stay []Pause
	for i := range p.pauses {
		if one := p.pauses[i]; ended(&one) {
			p.brakes.news = append(p.brakes.news, News{Policy: p.name, Kind: Resumed, Reason: one.Reason, Text: "the policy " + p.name + " " + what})
		} else {
			stay = append(stay, one)
		}
	}
	p.pauses = stay
}

// tell reports that there are news, if there are.
func (b *Brakes) tell() {
	b.mu.Lock()
	any := len(b.news) > 0
	b.mu.Unlock()
	if any {
		b.changed()
	}
}

// Kind says what a piece of news is about.
type Kind string

// The kinds of news; they are the reasons of Events.
const (
	Paused    Kind = "PolicyPaused"
	Resumed   Kind = "PolicyResumed"
	AtPace    Kind = "PolicyAtPace"
	HoldBegun Kind = "PolicyHeld"
	HoldEnded Kind = "PolicyHoldEnded"
)

// News is something that the brakes did.
type News struct {
	Policy string
	Kind   Kind
	Reason Reason
	Text   string
	// Effect is the write that exceeded a limit, or nil.
	Effect *eval.Effect
}

// News returns what has happened since it was last asked for.
func (b *Brakes) News() []News {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.news
	b.news = nil
	return out
}

// bounds is a limit of the policy, or the default, and that of the installation.
type bounds struct {
	limits  [2]*plan.Limit
	windows [2]window
}

func (b *bounds) adopt(own, otherwise, most *plan.Limit) {
	b.limits = [2]*plan.Limit{cmp.Or(own, otherwise), most}
	for i, l := range b.limits {
		if l != nil {
			b.windows[i].resize(l.Window)
		}
	}
}

// exceeded returns the limit that one more would exceed, with its number; nil if
// there is none.
func (b *bounds) exceeded(size func(int) int, now time.Time) (limit *plan.Limit, most int64) {
	for i, l := range b.limits {
		if l == nil {
			continue
		}
		if most = l.Value(size); b.windows[i].count(now) >= most {
			return l, most
		}
	}
	return nil, 0
}

// count returns the number of writes in the window of a limit, or 0 for other limits.
func (b *bounds) count(limit *plan.Limit, now time.Time) int64 {
	for i, l := range b.limits {
		if l != nil && l == limit {
			return b.windows[i].count(now)
		}
	}
	return 0
}

func (b *bounds) add(at time.Time, n int64) {
	for i, l := range b.limits {
		if l != nil {
			b.windows[i].add(at, n)
		}
	}
}

func objectName(id world.ID) string {
	return id.Kind() + " " + strings.TrimPrefix(id.Namespace()+"/"+id.Name(), "/")
}
