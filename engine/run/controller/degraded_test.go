package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/reconcile"
)

// TestDegraded sums up what fails.
func TestDegraded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	busy := apierrors.NewTooManyRequests("slower", 1)
	odd := reconcile.Result{Err: errors.New("Node a is odd")}
	for name, tc := range map[string]struct {
		happen  func(h *health, c *reconcile.Controller)
		watches string
		want    *Degraded
	}{
		"nothing":      {func(h *health, c *reconcile.Controller) { h.note(c, named("a"), reconcile.Result{}, now) }, "", nil},
		"an object":    {func(h *health, c *reconcile.Controller) { h.note(c, named("a"), odd, now) }, "", &Degraded{Reason: "Node  is odd", Text: "1 of 1 objects fail: Node a: Node a is odd", Objects: 1}},
		"not for long": {func(h *health, c *reconcile.Controller) { h.note(c, named("a"), odd, now.Add(time.Minute)) }, "", nil},
		"a watch":      {func(h *health, c *reconcile.Controller) { h.note(c, named("a"), reconcile.Result{}, now) }, "stale\nnot served", &Degraded{Reason: "stale not served", Text: "stale\nnot served"}},
		"the API server is busy": {func(h *health, c *reconcile.Controller) {
			h.note(c, named("a"), reconcile.Result{Err: fmt.Errorf("writing Node a: %w", busy)}, now)
			h.waiting.Store(168)
		}, "", &Degraded{Reason: "writing Node : slower", Text: "1 of 1 objects fail, and 168 wait in the queue: Node a: writing Node a: slower", Objects: 1}},
		"others wait, too":   {func(h *health, c *reconcile.Controller) { h.note(c, named("a"), odd, now); h.waiting.Store(168) }, "", &Degraded{Reason: "Node  is odd", Text: "1 of 1 objects fail: Node a: Node a is odd", Objects: 1}},
		"writes are stopped": {func(h *health, c *reconcile.Controller) { h.note(c, named("a"), odd, now); h.block("patch on nodes") }, "", &Degraded{Reason: "writes are stopped", Text: "writes are stopped: patch on nodes", Objects: 1}},
		"before any object":  {func(h *health, _ *reconcile.Controller) { h.block("patch on nodes") }, "", &Degraded{Reason: "writes are stopped", Text: "writes are stopped: patch on nodes"}},
	} {
		h, c := newHealth("p"), joined()
		tc.happen(h, c)
		if diff := cmp.Diff(tc.want, h.report(now.Add(time.Minute), func(*reconcile.Controller) string { return tc.watches })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
