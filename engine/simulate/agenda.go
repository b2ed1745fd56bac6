package simulate

import (
	"slices"
	"time"
)

// agenda is what is to be decided about, and when.
type agenda struct {
	// work are the keys to reconcile now, in their order, timers those that are due later, retries
	// those that failed and are tried again.
	work, timers, retries *schedule
	// failures counts those of a key, one after the other.
	failures map[item]int
	// order names the keys to decide about next; nil is as they come.
	order []string
}

// clear drops all that is to be done.
func (a *agenda) clear() {
	a.work.clear()
	a.timers.clear()
	a.retries.clear()
	clear(a.failures)
}

// take returns the next key to decide about; false when the order names no other.
func (a *agenda) take() (item, bool) {
	if a.order == nil {
		return a.work.take(time.Time{})
	}
	for len(a.order) > 0 {
		name := a.order[0]
		a.order = a.order[1:]
		if name == Others {
			a.order = nil
			return a.work.take(time.Time{})
		}
		at := slices.IndexFunc(a.work.list, func(d *due) bool { return work(d.item).String() == name })
		if at >= 0 {
			i := a.work.list[at].item
			a.work.remove(i)
			return i, true
		}
	}
	return item{}, false
}

// later takes when a key is to be decided about again; zero is never.
func (a *agenda) later(i item, at, now time.Time) {
	switch {
	case at.IsZero():
	case at.After(now):
		a.timers.set(i, at)
	default:
		a.work.add(i)
	}
}

// The back-off of a failing key, as in the real controller.
const (
	minBackOff = 5 * time.Millisecond
	maxBackOff = 60 * time.Second
)

// backOff takes how a reconciliation of a key went.
func (a *agenda) backOff(i item, err error, now time.Time) {
	if err == nil {
		a.retries.remove(i)
		delete(a.failures, i)
		return
	}
	wait := maxBackOff
	if a.failures[i] < 14 {
		wait = min(maxBackOff, minBackOff<<a.failures[i])
	}
	a.failures[i]++
	a.retries.set(i, now.Add(wait))
}

// next returns the first instant at which something is due, or false.
func (a *agenda) next() (time.Time, bool) {
	timer, retry := a.timers.first(), a.retries.first()
	if timer.IsZero() || !retry.IsZero() && retry.Before(timer) {
		timer = retry
	}
	return timer, !timer.IsZero()
}

// due moves what is due now into the work.
func (a *agenda) due(now time.Time) {
	for _, list := range []*schedule{a.timers, a.retries} {
		for i, ok := list.take(now); ok; i, ok = list.take(now) {
			a.work.add(i)
		}
	}
}
