package brake

import "time"

const (
	// maxDepth is how many writes may lead to each other before the key that
	// makes them is slowed down. Convergence in several steps takes a few.
	maxDepth = 30
	// maxChain is the same where time does not pass and nothing is slowed down.
	maxChain = 1000
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
	s.until = now.Add(min(lastPause, firstPause<<min(s.level, 10)))
	s.level++
	return time.Time{}
}

// over reports whether the key has come to rest.
func (s *slowed) over(now time.Time) bool {
	return now.Sub(s.wanted) > recovered && now.Sub(s.until) > recovered
}
