package controller

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
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
	c := group.Add(fixture.Checker().Text(fixture.Labelling("a").Read().Units[0]).Plan)
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
