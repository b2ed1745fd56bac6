package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// shadow is what a controller has more whose policy only looks on. It decides
// in the snapshots in which the policy that is enforced under the same name
// decides, before anything is written, and in those in which itself is woken;
// without such a policy, what it would write is compared with nothing.
type shadow struct {
	// turn is held during a decision: it comes from two sides.
	turn sync.Mutex
	// answers are those of the enforced policy's last questions, by key.
	answers map[eval.Key]recorded

	mu sync.Mutex
	// differs are the keys about which the last decisions differ.
	differs map[eval.Key]bool
	// examples are the last differences, the newest last, one per key.
	examples []Disagreement
	counts   ShadowCounts
}

func newShadow(p *plan.Policy) *shadow {
	if p.Mode != plan.Shadow {
		return nil
	}
	return &shadow{answers: map[eval.Key]recorded{}, differs: map[eval.Key]bool{}}
}

// recorded answers questions that were asked before. What it was asked besides
// is in asked.
type recorded struct {
	calls []eval.Call
	asked *string
}

var errUndetermined = errors.New("undetermined: asking would have side effects, and nobody has asked the same")

// Answer implements expr.Answerer.
func (r recorded) Answer(_ context.Context, q *expr.Request) (*expr.Response, error) {
	want := requestText(q)
	for _, c := range r.calls {
		if requestText(c.Request) == want {
			return c.Response, c.Err
		}
	}
	if *r.asked == "" {
		*r.asked = value.Cut(want, maxEffect)
	}
	return nil, errUndetermined
}

func requestText(q *expr.Request) string {
	candidates := make([]any, q.Candidates.Len())
	for i, c := range q.Candidates.All() {
		candidates[i] = value.Plain(c)
	}
	text, err := json.Marshal([]any{value.Plain(q.With), candidates})
	if err != nil {
		return q.Query
	}
	return q.Query + " " + string(text)
}

// beside lets those decide in the snapshot of a decision that is about to be written
// who are compared with it: the policy in the shadow and the other revision of a
// rollout, if there are any. It returns when the other revision is due.
func (r *reconciliation) beside(ctx context.Context) (due time.Time) {
	c, in, enforced := r.c, &r.in, r.result.Decision
	if c.Policy.Mode != plan.Enforce || in.Instead != nil || len(in.Rejected) > 0 { // they would make what was refused
		return due
	}
	if rollout := c.known.revisions.rollout.Load(); rollout != nil && !in.Flush {
		due = rollout.compare(ctx, c, *in, enforced)
	}
	if other := c.group.find(plan.ID{Name: c.Policy.Name, Shadow: true}.String()); other != nil {
		other.look(ctx, r.key, in.World, r.now, c, enforced)
	}
	return due
}

// find returns the controller in force by the ID of its policy, or nil.
func (g *Group) find(id string) *Controller {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, c := range g.controllers {
		if c.InForce() && c.Policy.ID() == id {
			return c
		}
	}
	return nil
}

// shadowed reconciles a key in the shadow: it decides beside the enforced
// policy, both without writing.
func (c *Controller) shadowed(ctx context.Context, key eval.Key, now time.Time) Result {
	snapshot := c.group.store.Snapshot()
	active := c.group.find(c.Policy.Name)
	var enforced *eval.Decision
	if active != nil {
		enforced = active.dry(ctx, key, snapshot, now, c.shadow.last(key))
	}
	d := c.look(ctx, key, snapshot, now, active, enforced)
	if d == nil {
		return Result{}
	}
	return Result{Decision: d, Next: d.Next}
}

// last returns the answers of a key's last questions.
func (s *shadow) last(key eval.Key) recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return recorded{calls: s.answers[key].calls, asked: new(string)}
}

// adopt takes over the answers of the revision before, which is not used again.
func (s *shadow) adopt(old *shadow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers, old.answers = old.answers, nil
}

// dry decides without writing, and without what is kept between decisions.
func (c *Controller) dry(ctx context.Context, key eval.Key, snapshot *world.Snapshot, now time.Time, answers expr.Answerer) *eval.Decision {
	in := c.input(key, now, snapshot, c.reads.primary(snapshot, key), nil)
	in.Answers, in.Shared = answers, nil
	return eval.Evaluate(ctx, in, nil)
}

// look decides in the shadow and compares; nil says that another revision has
// taken over.
func (c *Controller) look(ctx context.Context, key eval.Key, snapshot *world.Snapshot, now time.Time, active *Controller, enforced *eval.Decision) *eval.Decision {
	s := c.shadow
	s.turn.Lock()
	defer s.turn.Unlock()
	if !c.InForce() {
		return nil
	}
	c.known.wakes.take(key)
	answers := s.last(key)
	if enforced != nil && len(enforced.Calls) > 0 {
		answers.calls = enforced.Calls
	}
	object := c.reads.primary(snapshot, key)
	in := c.input(key, now, snapshot, object, nil)
	in.Answers = answers
	d := c.evaluate(ctx, in)
	c.counted(d)
	c.known.remember(key, d.Remember)
	r := reconciliation{c: c, key: key, now: now, object: object, result: Result{Decision: d}}
	r.debounce()
	r.reached()
	if !c.reads.exists(snapshot, key) {
		answers.calls = nil // nothing is kept of what is gone
	}
	s.note(c, key, answers, Disagreement{At: now, Key: key.String(), Undetermined: *answers.asked}, enforced, d, active)
	return d
}

// forget drops what is known of a key whose primary is gone.
func (s *shadow) forget(key eval.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.answers, key)
	delete(s.differs, key)
}
