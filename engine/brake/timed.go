package brake

import (
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

const (
	// maxTimed is how often in a row a key may be due again within timedPause.
	maxTimed   = 20
	timedPause = time.Second
)

// timed counts how often in a row a key was due again within a second.
type timed struct {
	n int
	// next is what it last asked for, last when.
	next, last time.Time
}

// Due returns when a key is evaluated again that asks for an instant: by the
// passing of time alone that happens once a second, after the first few.
func (p *Policy) Due(key eval.Key, next, now time.Time) time.Time {
	soon := next.After(now) && next.Before(now.Add(timedPause))
	if p == nil || !soon && p.marks.Load() == 0 {
		return next
	}
	p.brakes.mu.Lock()
	defer p.brakes.mu.Unlock()
	defer p.mark()
	one := p.timed[key]
	if !soon {
		if one != nil {
			delete(p.timed, key)
		}
		return next
	}
	if one == nil || now.Sub(one.last) > 2*timedPause {
		one = &timed{}
		p.timed[key] = one
	}
	if !next.Equal(one.next) { // otherwise something else has woken it meanwhile
		one.n++
	}
	one.next, one.last = next, now
	if one.n <= maxTimed {
		return next
	}
	return now.Add(timedPause)
}
