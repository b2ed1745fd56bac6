package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/metrics"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

// joined is the controller of a policy without objects.
func joined() *reconcile.Controller {
	group := reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(schema.Builtin()))
	group.SetGuard(guard.New(nil).Assuming())
	return group.Join(fixture.Checker().Text(context.Background(), fixture.Labelling("a").Units[0]).Plan)
}

// TestHealth: what fails for a while is reported with the first object and how
// many there are, and no longer when it is over.
func TestHealth(t *testing.T) {
	t.Parallel()
	c := joined()
	h := newHealth("p")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	none := func(*reconcile.Controller) string { return "" }
	note := func(name string, err error, seconds int) {
		h.note(c, eval.Key{Name: name}, reconcile.Result{Err: err}, at.Add(time.Duration(seconds)*time.Second))
	}
	want := func(seconds int, text string) {
		t.Helper()
		got := h.report(at.Add(time.Duration(seconds)*time.Second), none)
		if text == "" && got != nil || text != "" && (got == nil || got.Text != text) {
			t.Errorf("after %d s: %+v, want %q", seconds, got, text)
		}
	}
	note("b", errors.New("odd"), 0)
	note("c", fmt.Errorf("writing: %w", context.Canceled), 0)
	want(1, "")
	note("b", errors.New("worse"), 1) // it has failed since 0
	want(2, "1 of 1 objects fail: Node b: worse")
	note("a", errors.New("odd"), 2)
	h.note(c, eval.Key{Name: "d"}, reconcile.Result{Err: errors.New("it has moved on"), Quiet: true}, at)
	want(4, "2 of 2 objects fail: Node a: odd")
	before := h.report(at.Add(4*time.Second), none).Reason
	note("x", errors.New("odd"), 4)
	if now := h.report(at.Add(9*time.Second), none); now.Reason != before || !strings.HasPrefix(now.Text, "3 of 3") {
		t.Errorf("another number is another reason: %+v", now)
	}
	for _, name := range []string{"a", "b", "x"} {
		note(name, nil, 9)
	}
	want(20, "")
	h.note(c, eval.Key{Name: "f"}, reconcile.Result{Final: errors.New("it will not be tried again")}, at.Add(20*time.Second))
	want(30, "1 of 1 objects fail: Node f: it will not be tried again")
	note("f", nil, 31)
	want(40, "")
	if got := h.report(at, func(*reconcile.Controller) string { return "stale" }); got == nil || got.Text != "stale" {
		t.Errorf("%+v", got)
	}
}

// TestUnselected: the first object for which a call left no candidate is named while there
// is one.
func TestUnselected(t *testing.T) {
	t.Parallel()
	h, c := newHealth("without"), joined()
	for i, test := range []struct {
		name    string
		refused bool
		want    string
	}{
		{"b", true, "a call leaves no candidate, such as for Node b; it is made again every minute"},
		{"a", true, "a call leaves no candidate, such as for Node a; it is made again every minute"},
		{"a", false, "a call leaves no candidate, such as for Node b; it is made again every minute"},
		{"b", false, ""},
	} {
		h.note(c, eval.Key{Name: test.name}, reconcile.Result{Decision: &eval.Decision{Refused: test.refused}}, time.Time{})
		if got := h.withoutCandidate(); got != test.want {
			t.Errorf("%d: %q, want %q", i, got, test.want)
		}
	}
}

// TestBlocked: while a permission is missing keys are passed over, and none is
// forgotten.
func TestBlocked(t *testing.T) {
	t.Parallel()
	h := newHealth("p")
	if h.skips(eval.Key{Name: "a"}) {
		t.Error("nothing is missing")
	}
	if !h.block("patch on nodes") || h.block("patch on nodes") {
		t.Error("it is news once")
	}
	for range 2 {
		if !h.skips(eval.Key{Name: "a"}) {
			t.Error("it is not passed over")
		}
	}
	if got := h.report(time.Time{}, nil); got == nil || got.Text != "writes are stopped: patch on nodes" {
		t.Errorf("%+v", got)
	}
	if keys, was := h.unblock(); !was || len(keys) != 1 {
		t.Errorf("%v %v", keys, was)
	}
	if keys, was := h.unblock(); was || len(keys) != 0 || h.skips(eval.Key{Name: "a"}) {
		t.Errorf("%v %v", keys, was)
	}
}

// TestUnblocked: when writes are allowed again, what has failed counts only if it fails
// again, and is tried again.
func TestUnblocked(t *testing.T) {
	t.Parallel()
	c, h := joined(), newHealth("unblocked")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	none := func(*reconcile.Controller) string { return "" }
	fails := func(name string, seconds int) {
		h.note(c, eval.Key{Name: name}, reconcile.Result{Err: errors.New("it is forbidden")}, at.Add(time.Duration(seconds)*time.Second))
	}
	fails("a", 0)
	fails("b", 0)
	if _, was := h.unblock(); was || h.report(at.Add(10*time.Second), none) == nil {
		t.Error("writes were allowed, so that nothing has changed")
	}
	h.block("patch on nodes")
	h.skips(eval.Key{Name: "c"})
	if keys, was := h.unblock(); !was || len(keys) != 3 {
		t.Errorf("%v are tried again, %t", keys, was)
	}
	if got := h.report(at.Add(10*time.Second), none); got != nil {
		t.Errorf("%s at the moment when writes are allowed", got.Text)
	}
	fails("b", 11)
	if got := h.report(at.Add(20*time.Second), none); got == nil || got.Text != "1 of 1 objects fail: Node b: it is forbidden" {
		t.Errorf("%+v when it has failed again", got)
	}
}

// TestFencedWritesAreNoErrors: a process that lost the lead says so once, and
// not for every object that it would have written.
func TestFencedWritesAreNoErrors(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	registry := metrics.New(metrics.Options{Registry: prometheus.NewRegistry(), Log: fixture.Log()})
	s := resultLog{log: slog.New(slog.NewTextHandler(&log, nil)), metrics: registry}
	c := joined()
	fenced := fmt.Errorf("writing Node n: %w", context.Canceled)
	s.report(t.Context(), c, eval.Key{Name: "n"}, reconcile.Result{Err: errors.Join(fenced), Reported: []error{fenced}})
	if log.Len() > 0 {
		t.Error(log.String())
	}
	s.report(t.Context(), c, eval.Key{Name: "n"}, reconcile.Result{Err: errors.New("odd")})
	if !strings.Contains(log.String(), "odd") {
		t.Error("an error is not logged")
	}
}
