package observe

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The labels of exemplars: the ID of the reconciliation, and of its trace.
const (
	ExemplarReconcile = "reconcile_id"
	ExemplarTrace     = "trace_id"
)

// exemplarEvery is how often a bucket gets another exemplar: each costs several
// allocations, and only the newest one of a bucket is read.
const exemplarEvery = time.Second

// Seconds is a histogram of durations with exemplars. It is safe for concurrent use;
// the zero value counts nothing.
type Seconds struct {
	observer prometheus.Observer
	// bounds are those of the buckets, due when each of them, and the one above them
	// all, takes an exemplar again, in Unix nanoseconds.
	bounds []float64
	due    []atomic.Int64
}

// NewSeconds returns a histogram with exemplars, which observer counts in buckets with
// these upper bounds, in seconds.
func NewSeconds(observer prometheus.Observer, bounds []float64) *Seconds {
	return &Seconds{observer: observer, bounds: bounds, due: make([]atomic.Int64, len(bounds)+1)}
}

// Observe counts a duration that ended at a time. exemplar returns the labels of the
// exemplar; it is called only if the bucket of the duration takes another one.
func (s *Seconds) Observe(took time.Duration, end time.Time, exemplar func() prometheus.Labels) {
	if s.observer == nil {
		return
	}
	seconds := took.Seconds()
	with, ok := s.observer.(prometheus.ExemplarObserver)
	if !ok || !s.takes(seconds, end.UnixNano()) {
		s.observer.Observe(seconds)
		return
	}
	with.ObserveWithExemplar(seconds, exemplar())
}

// takes reports whether the bucket of a value takes an exemplar now.
func (s *Seconds) takes(seconds float64, now int64) bool {
	bucket := 0
	for bucket < len(s.bounds) && seconds > s.bounds[bucket] {
		bucket++
	}
	due := s.due[bucket].Load()
	return now >= due && s.due[bucket].CompareAndSwap(due, now+int64(exemplarEvery))
}
