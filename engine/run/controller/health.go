package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/watch"
)

const (
	// failsFor is how long an object has to fail before the policy counts as
	// degraded: an error that the next try resolves is not reported.
	failsFor = 2 * time.Second
	// maxFailure is the length of an error, in bytes.
	maxFailure = 512
)

// health is what currently fails of a running policy.
type health struct {
	policy string

	mu         sync.Mutex
	controller *reconcile.Controller
	failing    map[eval.Key]failure
	// unselected are the keys for which a call left no candidate.
	unselected map[eval.Key]bool
	// blocked is why nothing is written, "" while writes are allowed; aside are the keys
	// that were skipped meanwhile.
	blocked string
	aside   map[eval.Key]bool
	// waiting is how many keys were left in the queue when the last one was taken.
	waiting atomic.Int64
}

// failure is what failed for a key.
type failure struct {
	since time.Time
	text  string
	// busy is true if the API server takes no more requests for now.
	busy bool
}

func newHealth(policy string) *health {
	return &health{policy: policy, failing: map[eval.Key]failure{}, unselected: map[eval.Key]bool{}, aside: map[eval.Key]bool{}}
}

// note stores the result of a reconciliation.
func (h *health) note(c *reconcile.Controller, key eval.Key, r reconcile.Result, now time.Time) {
	if c.Policy.Mode == plan.Shadow {
		return
	}
	err := r.Err
	if err == nil || r.Quiet {
		err = errors.Join(append([]error{r.Final}, r.Reported...)...)
	}
	if errors.Is(err, context.Canceled) { // also of one that no longer leads
		return // nothing is known of the key
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.controller = c
	if err == nil {
		delete(h.failing, key)
	} else {
		before, known := h.failing[key]
		if !known {
			before.since = now
		}
		before.text, before.busy = value.Cut(err.Error(), maxFailure), apierrors.IsTooManyRequests(err)
		h.failing[key] = before
	}
	if r.Decision != nil && r.Decision.Refused {
		h.unselected[key] = true
	} else {
		delete(h.unselected, key)
	}
	observe.Failing.WithLabelValues(h.policy).Set(float64(len(h.failing)))
	observe.Unselected.WithLabelValues(h.policy).Set(float64(len(h.unselected)))
}

// first returns the first of the keys that fail for long enough, and how many
// there are.
func (h *health) first(now time.Time) (first eval.Key, n int) {
	for key, f := range h.failing {
		if now.Sub(f.since) < failsFor {
			continue
		}
		if n == 0 || watch.CompareKeys(key, first) < 0 {
			first = key
		}
		n++
	}
	return first, n
}

// skips reports whether a key is skipped, because nothing may be written.
func (h *health) skips(key eval.Key) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blocked == "" {
		return false
	}
	h.aside[key] = true
	return true
}

// block stops the writes, and reports whether that is new.
func (h *health) block(why string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.blocked != why
	h.blocked = why
	observe.Stopped.WithLabelValues(h.policy).Set(1)
	return news
}

// unblock allows writes again, and returns the keys that were skipped or have failed; false
// if writes were allowed. What has failed does not count until it was tried again: it may
// have failed for what was missing.
func (h *health) unblock() (keys []eval.Key, was bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	observe.Stopped.WithLabelValues(h.policy).Set(0)
	if h.blocked == "" {
		return nil, false
	}
	keys = slices.AppendSeq(slices.Collect(maps.Keys(h.aside)), maps.Keys(h.failing))
	h.blocked = ""
	clear(h.aside)
	clear(h.failing)
	observe.Failing.WithLabelValues(h.policy).Set(0)
	return keys, true
}
