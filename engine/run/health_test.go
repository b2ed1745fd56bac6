package run

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// TestHealth: what fails for a while is reported with the first object and how
// many there are, and no longer when it is over.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := newShelved(t)
	p := s.judge.text(marking("a").Read().Units[0]).Plan
	c := s.group.Join(p)
	h := newHealth("p")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	none := func(*reconcile.Controller) string { return "" }
	note := func(name string, err error, seconds int) {
		h.note(c, eval.Key{Name: name}, reconcile.Result{Err: err}, at.Add(time.Duration(seconds)*time.Second))
	}
	want := func(seconds int, text string) {
		t.Helper()
		got := h.report(at.Add(time.Duration(seconds)*time.Second), none)
		if text == "" && got != nil || text != "" && (got == nil || got.text != text) {
			t.Errorf("after %d s: %+v, want %q", seconds, got, text)
		}
	}
	note("b", errors.New("odd"), 0)
	note("c", fmt.Errorf("writing: %w", errNotLeading), 0)
	want(1, "")
	note("b", errors.New("worse"), 1) // it has failed since 0
	want(2, "1 of 1 objects fail: Node b: worse")
	note("a", errors.New("odd"), 2)
	h.note(c, eval.Key{Name: "d"}, reconcile.Result{Err: errors.New("it has moved on"), Quiet: true}, at)
	want(4, "2 of 2 objects fail: Node a: odd")
	before := h.report(at.Add(4*time.Second), none).reason
	note("x", errors.New("odd"), 4)
	if now := h.report(at.Add(9*time.Second), none); now.reason != before || !strings.HasPrefix(now.text, "3 of 3") {
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
	if got := h.report(at, func(*reconcile.Controller) string { return "stale" }); got == nil || got.text != "stale" {
		t.Errorf("%+v", got)
	}
}

// TestBlocked: while a permission is missing keys are passed over, and none is
// forgotten.
func TestBlocked(t *testing.T) {
	t.Parallel()
	h := newHealth("p")
	if h.pass(eval.Key{Name: "a"}) {
		t.Error("nothing is missing")
	}
	if !h.block("patch on nodes") || h.block("patch on nodes") {
		t.Error("it is news once")
	}
	for range 2 {
		if !h.pass(eval.Key{Name: "a"}) {
			t.Error("it is not passed over")
		}
	}
	if got := h.report(time.Time{}, nil); got == nil || got.text != "writes are stopped: patch on nodes" {
		t.Errorf("%+v", got)
	}
	if keys, was := h.unblock(); !was || len(keys) != 1 {
		t.Errorf("%v %v", keys, was)
	}
	if keys, was := h.unblock(); was || len(keys) != 0 || h.pass(eval.Key{Name: "a"}) {
		t.Errorf("%v %v", keys, was)
	}
}

// TestWatchIDs: a watch that the server serves is found again as the source that
// it is of.
func TestWatchIDs(t *testing.T) {
	t.Parallel()
	for link, source := range map[string]world.Source{
		"https://x/api/v1/nodes?watch=true":                                                                    {GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}},
		"https://x/api/v1/nodes?watch=true&labelSelector=a%3Db%2Cc&resourceVersion=7":                          {GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}, Selector: "c,a=b"},
		"https://x/api/v1/namespaces/n/nodes?watch=true&fieldSelector=metadata.name%3Dm&allowWatchBookmarks=1": {GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}, Namespace: "n", Name: "m"},
	} {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		f := newFeeds(offline().newTerm(t.Context()))
		f.informers[source] = &feed{}
		f.fault(source, errors.New("no"), time.Now())
		if len(f.failing) != 1 {
			t.Errorf("%s: nothing is noted", link)
		}
		if f.opened(watchID(u)); len(f.failing) != 0 {
			t.Errorf("%s: still failing %v", link, f.failing)
		}
	}
}

// TestEvents: a few are recorded at once, of what follows closely the last, with
// how many there were; that all is well again takes no place of what was wrong.
func TestEvents(t *testing.T) {
	t.Parallel()
	recorder := record.NewFakeRecorder(100)
	e := newEvents(recorder)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := &corev1.ObjectReference{Name: "m"}
	for i := range 40 {
		e.add(m, "Normal", "PoliciesActive", fmt.Sprint("revision ", i), at)
	}
	e.add(m, "Warning", "PoliciesRefused", "wrong", at)
	if n := len(recorder.Events); n != eventBurst+1 {
		t.Errorf("%d events at once", n)
	}
	e.flush(at.Add(eventPause / 2))
	e.flush(at.Add(eventPause))
	e.flush(at.Add(100 * eventPause))
	close(recorder.Events)
	var last string
	n := 0
	for text := range recorder.Events {
		last = text
		n++
	}
	if want := "Normal PoliciesActive revision 39 (and 29 changes before it)"; last != want || n != eventBurst+2 || len(e.pace)+len(e.held) != 0 {
		t.Errorf("%d events, the last is %q, want %q; %v, %v", n, last, want, e.pace, e.held)
	}
}

// TestFencedWritesAreNoErrors: a process that lost the lead says so once, and
// not for every object that it would have written.
func TestFencedWritesAreNoErrors(t *testing.T) {
	t.Parallel()
	s := newShelved(t)
	var log strings.Builder
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	c := s.group.Join(s.judge.text(marking("a").Read().Units[0]).Plan)
	fenced := fmt.Errorf("writing Node n: %w", errNotLeading)
	s.report(c, eval.Key{Name: "n"}, reconcile.Result{Err: errors.Join(fenced), Reported: []error{fenced}})
	if log.Len() > 0 {
		t.Error(log.String())
	}
	s.report(c, eval.Key{Name: "n"}, reconcile.Result{Err: errors.New("odd")})
	if !strings.Contains(log.String(), "odd") {
		t.Error("an error is not logged")
	}
}
