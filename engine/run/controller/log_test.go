package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/metrics"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

// taking is a writer that takes every patch.
type taking struct{ apply.Writer }

func (taking) Patch(context.Context, apply.Patch) (world.Version, error) {
	return world.Version{ResourceVersion: "2"}, nil
}

// labelling returns a policy in force with the Nodes m and n, which it labels.
func labelling(w apply.Writer) *reconcile.Controller {
	store := world.NewStore()
	group := reconcile.NewGroup(store, w, schema.NewSet(schema.Builtin()))
	group.SetGuard(guard.New(nil).Assuming())
	c := group.Add(fixture.Checker().Text(context.Background(), fixture.Labelling("a").Units[0]).Plan)
	for _, need := range readmodel.Requirements(c.Policy) {
		for _, name := range []string{"m", "n"} {
			node := map[string]any{"metadata": map[string]any{"name": name, "resourceVersion": "1"}}
			store.Put(need.Source, readmodel.Object(need.Source, node, schema.Untyped(), need.Mask))
		}
	}
	return c
}

// TestEveryLineHasTheReconcileID: the lines of one reconciliation have the ID of its
// record, those of another one another, also if it ends in a panic.
func TestEveryLineHasTheReconcileID(t *testing.T) {
	t.Parallel()
	for want, writer := range map[string]apply.Writer{"wrote": taking{}, "internal error (panic)": nil} {
		c, ids := labelling(writer), map[string]bool{}
		for _, name := range []string{"m", "n"} {
			r, text := logged(t, c, name)
			if !strings.Contains(text, want) {
				t.Errorf("no line %q: %s", want, text)
			}
			if r.Record != nil && r.Record.ID() != r.ID.String() {
				t.Errorf("%s: the record has the ID %s, the result %s", want, r.Record.ID(), r.ID)
			}
			for line := range strings.Lines(text) {
				var fields map[string]any
				if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["reconcileID"] != r.ID.String() {
					t.Errorf("%s: want reconcileID %s: %s (%v)", want, r.ID, line, err)
				}
			}
			ids[r.ID.String()] = true
		}
		if len(ids) != 2 {
			t.Errorf("%s: two reconciliations have the IDs %v", want, ids)
		}
	}
}

// logged returns the result of a reconciliation, and what was logged.
func logged(t *testing.T, c *reconcile.Controller, name string) (reconcile.Result, string) {
	t.Helper()
	var text strings.Builder
	log, key := slog.New(slog.NewJSONHandler(&text, nil)), eval.Key{Name: name}
	w := &worker{id: "p", log: log, results: resultLog{log: log, metrics: metrics.New(metrics.Options{Registry: prometheus.NewRegistry(), Log: log})}}
	r := w.reconcile(t.Context(), c, key)
	w.results.report(t.Context(), c, key, r)
	return r, text.String()
}

// TestAWriteIsALine: it names the object that was written, and what woke the key, and has no
// values.
func TestAWriteIsALine(t *testing.T) {
	t.Parallel()
	_, text := logged(t, labelling(taking{}), "m")
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err, text)
	}
	for _, name := range []string{"time", "level", "revision", "reconcileID"} {
		delete(got, name)
	}
	want := map[string]any{
		"msg": "wrote", "policy": got["policy"], "key": "m", "rule": "mark", "verb": "patch", "subresource": "",
		"target":  map[string]any{"apiVersion": "v1", "kind": "Node", "name": "m"},
		"wokenBy": []any{map[string]any{"reason": "start"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestConflictsAreNoErrors: that an object has changed meanwhile is no error of the log.
func TestConflictsAreNoErrors(t *testing.T) {
	t.Parallel()
	for level, err := range map[string]error{
		"ERROR": errors.New("broken"),
		"INFO":  fmt.Errorf("writing: %w", apierrors.NewConflict(kschema.GroupResource{Resource: "pods"}, "a", errors.New("the object has been modified"))),
		"":      context.Canceled,
	} {
		var out strings.Builder
		failed(slog.New(slog.NewTextHandler(&out, nil)), err)
		if got := out.String(); (got == "") != (level == "") || !strings.Contains(got, level) {
			t.Errorf("%s: %s", level, got)
		}
	}
}

// TestManyWritesAreCounted: a policy has fifty lines a second, a key at its pace one and the
// number of the others in two minutes, also when nothing follows or the process stops.
func TestManyWritesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		}}))
		l, lines := resultLog{log: log}, map[string]int{}
		write := func(key string, n int) {
			for range n {
				if l.admit(writes{"p", key}) {
					lines[key]++
				}
			}
		}
		write("", 120)
		<-time.After(600 * time.Millisecond)
		write("", 30)
		<-time.After(time.Second)
		write("", 60)
		<-time.After(time.Hour)
		write("", 1)
		for range 220 { // two times two minutes
			write("n/a", 1)
			<-time.After(1100 * time.Millisecond)
		}
		write("n/a", 3)
		l.tell(nil)
		<-time.After(time.Hour)
		synctest.Wait()
		const ask = ` ask="edict explain TYPE/NAME -n NAMESPACE"`
		want := ""
		for _, told := range []string{`key="" writes=100`, `key="" writes=10`, "key=n/a writes=109", "key=n/a writes=109", "key=n/a writes=2"} {
			want += `msg="wrote more than is logged one by one" policy=p ` + told + ask + "\n"
		}
		if diff := cmp.Diff(want, text.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int{"": 101, "n/a": 3}, lines); diff != "" {
			t.Errorf("lines, -want +got:\n%s", diff)
		}
	})
}

// TestAPacedKeyIsQuiet: a key that is written again and again has no line for each write, and
// none for what its policy says with each.
func TestAPacedKeyIsQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log := slog.New(slog.NewTextHandler(&text, nil))
		l := resultLog{log: log, metrics: metrics.New(metrics.Options{Registry: prometheus.NewRegistry(), Log: log})}
		c := labelling(taking{})
		r := c.Reconcile(t.Context(), eval.Key{Name: "m"}, time.Now())
		r.Decision.Log, r.Paced = []eval.Line{{Level: "warning", Message: "again"}}, true
		for range 60 {
			l.report(t.Context(), c, eval.Key{Name: "m"}, r)
			<-time.After(time.Second)
		}
		for _, line := range []string{"msg=wrote ", "msg=again "} {
			if n := strings.Count(text.String(), line); n != 1 {
				t.Errorf("%s %d times in a minute:\n%s", line, n, text.String())
			}
		}
	})
}

// TestALineIsSaidOnce: what a policy logs at every evaluation of a key is said when it
// changes, and with each write.
func TestALineIsSaidOnce(t *testing.T) {
	t.Parallel()
	var s said
	lines := func(text string) []eval.Line { return []eval.Line{{Level: "warning", Message: text}} }
	for i, step := range []struct {
		key, revision, text string
		wrote, want         bool
	}{
		{"a", "1", "spread", false, true},
		{"a", "1", "spread", false, false},
		{"b", "1", "spread", false, true},
		{"a", "1", "spread", true, true},
		{"a", "1", "spread wide", false, true},
		{"a", "1", "", false, false},
		{"a", "1", "spread wide", false, true},
		{"a", "2", "spread wide", false, true},
		{"a", "2", "spread wide", false, false},
	} {
		said := []eval.Line(nil)
		if step.text != "" {
			said = lines(step.text)
		}
		if got := s.news(eval.Key{Name: step.key}, step.revision, said, step.wrote); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
