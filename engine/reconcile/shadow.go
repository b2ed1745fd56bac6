package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

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

// enforced is what the policy that is enforced has decided, by its controller; zero is that
// there is no such policy.
type enforced struct {
	by *Controller
	d  *eval.Decision
}

// reconcile reconciles a key in the shadow: it decides beside the enforced
// policy, both without writing.
func (s *shadow) reconcile(ctx context.Context, r *reconciliation) Result {
	snapshot := r.c.group.store.Snapshot()
	e := enforced{}
	if r.c.Policy.ShadowOf != "" {
		e.by = r.c.group.controllers.find(r.c.Policy.Owner())
	}
	if e.by != nil {
		e.d = try(ctx, e.by, r.key, snapshot, r.now, s.last(r.key)).d
	}
	d := s.look(ctx, r, snapshot, e)
	if d == nil {
		return Result{}
	}
	return Result{Decision: d, Next: d.Next}
}

// look decides in the shadow and compares; nil says that another revision has
// taken over.
func (s *shadow) look(ctx context.Context, r *reconciliation, snapshot *world.Snapshot, e enforced) *eval.Decision {
	c, key := r.c, r.key
	s.turn.Lock()
	defer s.turn.Unlock()
	if !c.InForce() {
		return nil
	}
	c.known.wakes.take(key)
	answers := s.last(key)
	if e.d != nil && len(e.d.Calls) > 0 {
		answers.calls = e.d.Calls
	}
	r.object = c.reads.primary(snapshot, key)
	in := c.input(key, r.now, snapshot, r.object, nil)
	in.Answers = answers
	d := c.evaluate(ctx, in)
	r.result.Decision = d
	counted(c, d)
	c.known.remember(key, d.Remember)
	r.debounce()
	c.known.reached(key, r.result.reach(false))
	if !c.reads.exists(snapshot, key) {
		answers.calls = nil // nothing is kept of what is gone
	}
	s.note(r, answers, e)
	return d
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

// forget drops what is known of a key whose primary is gone.
func (s *shadow) forget(key eval.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.answers, key)
	delete(s.differs, key)
}
