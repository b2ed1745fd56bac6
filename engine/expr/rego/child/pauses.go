package child

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/expr"
)

const (
	// leastPause is how long modules are not called after a call that was ended. For
	// each further one in a row it is twice as long, up to mostPause.
	leastPause = 10 * time.Second
	mostPause  = 5 * time.Minute
	// maxPauses is how many sets of modules are remembered.
	maxPauses = 1024
)

// pauses are the modules, by ID, whose last call was ended by its time or memory.
// They are not called for a while: each such call takes as much as a thousand
// others, which wait for it.
type pauses struct {
	now func() time.Time

	mu sync.Mutex
	of map[string]*pause
}

type pause struct {
	// ends is how many calls in a row were ended, why is the last one's error.
	ends  int
	why   string
	until time.Time
}

func newPauses(now func() time.Time) *pauses {
	if now == nil {
		now = time.Now
	}
	return &pauses{now: now, of: map[string]*pause{}}
}

// check returns why modules may not be called now, nil if they may.
func (p *pauses) check(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.of[id]
	if one == nil || !p.now().Before(one.until) {
		return nil
	}
	return one.error()
}

// error says when, not how soon: the text is the same for all of the pause, since
// a policy may write it into a status.
func (p *pause) error() error {
	calls := "call"
	if p.ends > 1 {
		calls = fmt.Sprintf("%d calls", p.ends)
	}
	return fmt.Errorf("%w: its modules are not called again before %s, because their last %s had to be ended: %s",
		expr.ErrUnavailable, p.until.UTC().Format(time.RFC3339), calls, p.why)
}

// note takes in what became of a call.
func (p *pauses) note(id string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		delete(p.of, id)
	case exhausted(err):
		p.add(id, err.Error())
	}
}

// exhausted reports whether a call was ended by its time or memory. One that nobody
// waits for any more, or whose process others have ended, says nothing of the modules.
func exhausted(err error) bool {
	ended, is := errors.AsType[*endedError](err)
	return is && ended.greedy || errors.Is(err, expr.ErrTime)
}

func (p *pauses) add(id, why string) {
	p.forget()
	one := p.of[id]
	if one == nil {
		one = &pause{}
		p.of[id] = one
	}
	one.ends++
	one.why, one.until = why, p.now().Add(length(one.ends))
}

// length is how long a pause is after some ends in a row.
func length(ends int) time.Duration {
	const doublings = 5 // more than up to mostPause
	return min(leastPause<<min(ends-1, doublings), mostPause)
}

// forget drops what has not been called for long after its pause: nobody says when
// modules are no longer used. Of too many it drops the one that ends first.
func (p *pauses) forget() {
	now := p.now()
	maps.DeleteFunc(p.of, func(_ string, one *pause) bool { return now.After(one.until.Add(mostPause)) })
	if len(p.of) < maxPauses {
		return
	}
	first := ""
	for id, one := range p.of {
		if first == "" || one.until.Before(p.of[first].until) {
			first = id
		}
	}
	delete(p.of, first)
}
