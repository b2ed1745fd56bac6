package run

import (
	"sync/atomic"
	"time"
)

// instant is a time that one goroutine sets and others read. The zero value is the zero
// time.
type instant struct{ at atomic.Pointer[time.Time] }

func (i *instant) set(at time.Time) { i.at.Store(&at) }

func (i *instant) get() time.Time {
	if at := i.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// over reports whether a time has passed, by the clock of the system or by the monotonic
// one. The first may be set back, the second stops while a machine is suspended.
func over(until time.Time) bool {
	now := time.Now()
	return now.After(until) || now.Round(0).After(until.Round(0))
}
