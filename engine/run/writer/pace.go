package writer

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
)

// Pace gives every policy a share of the writes: one that writes without an end
// does not take those of the others.
type Pace struct {
	qps int

	mu       sync.Mutex
	policies map[string]*rate.Limiter
}

// NewPace makes a Pace with so many writes a second for each policy; a negative
// number is no limit.
func NewPace(qps int) *Pace { return &Pace{qps: qps, policies: map[string]*rate.Limiter{}} }

// wait waits for a policy's turn.
func (p *Pace) wait(ctx context.Context, policy string) error {
	if p == nil || p.qps < 0 {
		return nil
	}
	return p.of(policy).Wait(ctx)
}

func (p *Pace) of(policy string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.policies[policy]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(p.qps), p.qps+p.qps/2)
		p.policies[policy] = l
	}
	return l
}
