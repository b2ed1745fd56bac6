package events

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// The reasons of Events about decisions.
const (
	// RuleFailed is that a rule failed, DecisionRefused that an effect was refused by
	// the guard, or that the decision could not be made.
	RuleFailed      = "RuleFailed"
	DecisionRefused = "DecisionRefused"
	// NothingSelected is that a selection has no candidate left.
	NothingSelected = "NothingSelected"
	// Selected and Recovered are the ends of these.
	Selected  = "Selected"
	Recovered = "Recovered"
)

const (
	// decisionPause is how long after an Event of an object another one with the same
	// reason is recorded.
	decisionPause = 10 * time.Minute
	// decisionBurst is how many Events of a policy are recorded at once, beyond one a
	// second.
	decisionBurst = 10
	// transientFor is how long a rule has to fail before an error that another try may
	// solve is recorded.
	transientFor = 2 * time.Second
	// maxSent is how many pauses are kept for a policy. While there are as many, it
	// gets no more Events.
	maxSent = 10_000
)

// Decisions records Events about the primary objects of policies when the outcome of
// their decision changes in a way that people wait for. The methods of nil do nothing.
type Decisions struct {
	recorder record.EventRecorder

	mu       sync.Mutex
	policies map[string]*decided
}

// decided is what was recorded for one policy.
type decided struct {
	pace *rate.Limiter
	// states are those of the keys for which something is wrong.
	states map[eval.Key]state
	sent   map[sentID]time.Time
}

// state is what is wrong for a key: since when, and whether an Event has told so.
type state struct {
	reason string
	since  time.Time
	told   bool
}

type sentID struct {
	key    eval.Key
	reason string
}

// NewDecisions returns Decisions that record by a recorder.
func NewDecisions(recorder record.EventRecorder) *Decisions {
	return &Decisions{recorder: recorder, policies: map[string]*decided{}}
}

// Note records an Event if the result of a reconciliation is a change that matters,
// within the limits. The decision is rendered only then.
func (d *Decisions) Note(ctx context.Context, r *reconcile.Result, now time.Time) {
	if d == nil || r.Record == nil {
		return
	}
	in := &r.Record.Inputs
	if in.Policy.Mode == plan.Shadow || in.Flush || in.Instead != nil {
		return
	}
	object := in.World.Table(in.Policy.Primary.Source).Get(in.Key.Namespace, in.Key.Name)
	if object == nil {
		d.forgetKey(in.Policy.ID(), in.Key)
		return
	}
	if reason := d.news(in.Policy.ID(), in.Key, r, now); reason != "" {
		d.send(ctx, r, object, reason)
	}
}

// Forget drops what is kept of a policy.
func (d *Decisions) Forget(policy string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.policies, policy)
}

func (d *Decisions) forgetKey(policy string, key eval.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.policies[policy]; p != nil {
		delete(p.states, key)
	}
}

// news returns the reason of the Event to record now; "" is none.
func (d *Decisions) news(policy string, key eval.Key, r *reconcile.Result, now time.Time) string {
	reason, transient := outcome(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.policies[policy]
	if p == nil {
		if reason == "" {
			return ""
		}
		p = &decided{pace: rate.NewLimiter(1, decisionBurst), states: map[eval.Key]state{}, sent: map[sentID]time.Time{}}
		d.policies[policy] = p
	}
	before, known := p.states[key]
	if reason == "" {
		delete(p.states, key)
		if end := ending(before.reason); before.told && p.admits(sentID{key, end}, now) {
			return end
		}
		return ""
	}
	if !known || before.reason != reason {
		before = state{reason: reason, since: now}
	}
	due := !before.told && (!transient || now.Sub(before.since) >= transientFor) && p.admits(sentID{key, reason}, now)
	before.told = before.told || due
	p.states[key] = before
	if !due {
		return ""
	}
	return reason
}

// outcome returns what is wrong with a decision, "" for nothing, and whether another
// try may solve it.
func outcome(r *reconcile.Result) (reason string, transient bool) {
	d := r.Decision
	switch {
	case len(d.Problems) > 0:
		transient = true
		for i := range d.Problems {
			transient = transient && d.Problems[i].Transient()
		}
		return RuleFailed, transient
	case r.Final != nil:
		return DecisionRefused, false
	case d.Unselected:
		return NothingSelected, false
	}
	return "", false
}

// ending returns the reason that a state is over.
func ending(reason string) string {
	if reason == NothingSelected {
		return Selected
	}
	return Recovered
}

// admits reports whether an Event is within the limits, and counts it.
func (p *decided) admits(id sentID, now time.Time) bool {
	if at, sent := p.sent[id]; sent && now.Sub(at) < decisionPause {
		return false
	}
	if len(p.sent) >= maxSent {
		for id, at := range p.sent {
			if now.Sub(at) >= decisionPause {
				delete(p.sent, id)
			}
		}
	}
	if len(p.sent) >= maxSent || !p.pace.AllowN(now, 1) {
		return false
	}
	p.sent[id] = now
	return true
}

// send records the sentence that explains the decision.
func (d *Decisions) send(ctx context.Context, r *reconcile.Result, object *world.Object, reason string) {
	in := &r.Record.Inputs
	gvk := in.Policy.Primary.GVK
	kind := corev1.EventTypeWarning
	if reason == Selected || reason == Recovered {
		kind = corev1.EventTypeNormal
	}
	begin, end := "Policy "+in.Policy.ID()+": ", fmt.Sprintf(" (reconcileID %s)", r.ID)
	text := explain.Sentence(gvk.Kind, r.Record.Render(ctx))
	d.recorder.Event(&corev1.ObjectReference{
		APIVersion: gvk.APIVersion, Kind: gvk.Kind, Namespace: in.Key.Namespace, Name: in.Key.Name, UID: types.UID(object.UID),
	}, kind, reason, begin+value.Cut(text, status.MaxEventMessage-len(begin)-len(end))+end)
}
