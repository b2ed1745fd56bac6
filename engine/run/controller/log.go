package controller

import (
	"context"
	"errors"
	"log/slog"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/metrics"
)

// resultLog logs the results of reconciliations, and counts them in the metrics of
// their policies.
type resultLog struct {
	log     *slog.Logger
	metrics *metrics.Policies
}

// report logs and counts the result of a reconciliation.
func (l *resultLog) report(ctx context.Context, c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	if c.Policy.Mode == plan.Shadow {
		return // it writes nothing, and has reports of its own
	}
	l.metrics.Report(ctx, c, key, r)
	log := l.log.With(observe.LogPolicy, c.Policy.Name, observe.LogRevision, c.Policy.Revision, observe.LogReconcile, r.ID.String(), observe.LogKey, key.String())
	if r.Decision != nil {
		for _, line := range r.Decision.Log {
			log.Log(context.Background(), levelOf(line.Level), line.Message, "at", line.At.String())
		}
	}
	explain(ctx, log, r.Record)
	for _, o := range r.Outcomes {
		if o.Written() {
			log.Info("wrote", observe.LogRule, o.Effect.Rules, "verb", o.Effect.Verb, "kind", o.Effect.Target.Kind, "name", o.Effect.Target.Name, "subresource", o.Effect.Subresource)
		}
	}
	for _, err := range r.Reported {
		if !errors.Is(err, context.Canceled) {
			log.Error("failed, and will be tried again", "error", err.Error())
		}
	}
	if r.Final != nil {
		log.Error("failed, and will not be tried again until something that it read changes", "error", r.Final.Error())
	}
	if r.Err != nil && !r.Quiet && !errors.Is(r.Err, context.Canceled) {
		log.Error("failed, and will be tried again", "error", r.Err.Error())
	}
}

// explain logs what selections chose and why, if that is wanted.
func explain(ctx context.Context, log *slog.Logger, r *record.Record) {
	if r == nil || !log.Enabled(ctx, slog.LevelDebug) || !r.HasSelections() {
		return
	}
	doc := r.Render(ctx)
	for i := range doc.Selections {
		s := &doc.Selections[i]
		log := log.With(observe.LogRule, s.Rule, "item", s.Item, "candidates", s.Total)
		if s.Winner == nil {
			log.Debug("no candidate is left", "summary", s.Summary)
			continue
		}
		won := s.Candidates[*s.Winner]
		log.Debug("candidate chosen", "winner", won.Names, "score", won.Score, "points", won.Points, "taken", taken(s), "summary", s.Summary)
	}
}

// taken counts the candidates that a selection took.
func taken(s *record.SelectionDocument) int {
	n := 0
	for i := range s.Candidates {
		if s.Candidates[i].Taken || s.Winner != nil && *s.Winner == i {
			n++
		}
	}
	return n
}

func levelOf(name string) slog.Level {
	switch name {
	case "debug":
		return slog.LevelDebug
	case "warning":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
