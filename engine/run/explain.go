package run

import (
	"context"
	"log/slog"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/record"
)

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
		log.Debug("candidate chosen", "winner", won.Names, "score", won.Score, "points", won.Points, "summary", s.Summary)
	}
}
