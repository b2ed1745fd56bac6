package run

import (
	"log/slog"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/observe"
)

// explain logs what selections chose and why, if the decision was traced.
func explain(log *slog.Logger, d *eval.Decision) {
	if d == nil || d.Trace == nil {
		return
	}
	for _, rule := range d.Trace.Rules {
		for _, s := range rule.Selections {
			explainSelection(log.With(observe.LogRule, rule.Name, "item", s.Item, "candidates", s.Total), s.Trace)
		}
	}
}

func explainSelection(log *slog.Logger, t *selection.Trace) {
	for _, c := range t.Candidates {
		if c.Won {
			log.Debug("chose", "winner", c.Name, "score", c.Score, "points", c.Points)
			return
		}
	}
	log.Debug("chose nobody", "excluded", t.Excluded)
}
