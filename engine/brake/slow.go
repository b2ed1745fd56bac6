package brake

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

const (
	// maxDepth is how many writes may lead to each other before the key that
	// makes them is slowed down. Convergence in several steps takes a few.
	maxDepth = 30
	// maxChain is the same where time does not pass and nothing is slowed down.
	maxChain = 1000
	// minWrites is how many writes of such a chain have to be of the same key
	// within a minute: a chain that goes from object to object may be long and come
	// to an end. From fewDepth on they are counted.
	minWrites      = 10
	minChainWrites = 100
	fewDepth       = 5
	// slowRate is the longest time between two of them, on average, of what is
	// slowed down: nobody minds a chain that is slow by itself.
	slowRate = 2 * time.Second
	// firstPause is between the first two writes of a key that is slowed down,
	// lastPause between later ones.
	firstPause = time.Second
	lastPause  = 30 * time.Second
	// recovered is after how long without a write of its own making a key is no
	// longer slowed down.
	recovered = time.Minute
)

// slowed is a key that writes again and again because of its own writes.
type slowed struct {
	// id names the policy and the key.
	id    string
	level int
	// until is when it may write next, wanted when it last wanted to.
	until, wanted time.Time
	Slowed
}

// Slowed is a key that is slowed down.
type Slowed struct {
	// Fields are what Rules write: path, kind and object. Others are the policies that wrote in between.
	Rules, Fields, Others []string
	Writes                int
}

// chain counts the writes of a key that others led to.
type chain struct {
	n     int
	since time.Time
}

// chained counts a write of a key, and returns how many there were within a
// minute.
func (p *Policy) chained(key eval.Key, c Cause, now time.Time) int {
	if c.Depth < fewDepth {
		return 0
	}
	one := p.chains[key]
	if one == nil || now.Sub(one.since) > recovered {
		one = &chain{since: now}
		p.chains[key] = one
	}
	one.n++
	return one.n
}

// runs reports whether a chain of writes is too long and too fast.
func (c Cause) runs(now time.Time) bool {
	return c.Depth >= maxDepth && now.Sub(c.Since) <= time.Duration(c.Depth)*slowRate
}

// pause takes that the key wants to write, and returns until when it must not;
// zero lets it write.
func (s *slowed) pause(c Cause, now time.Time) (until time.Time) {
	s.wanted = now
	if c.Known && c.Depth == 0 {
		return time.Time{} // something else has changed
	}
	if now.Before(s.until) {
		return s.until
	}
	wait := min(lastPause, firstPause<<min(s.level, 10))
	s.until = now.Add(wait + s.share(wait))
	s.level++
	return time.Time{}
}

// share is up to half of a pause, another one for each key and each time: two
// keys that undo what the other does, both at once, would do so for ever if they
// were slowed down alike.
func (s *slowed) share(wait time.Duration) time.Duration {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", s.id, s.level)
	return wait / 2 * time.Duration(h.Sum32()%1000) / 1000
}

// over reports whether the key has come to rest.
func (s *slowed) over(now time.Time) bool {
	return now.Sub(s.wanted) > recovered && now.Sub(s.until) > recovered
}
