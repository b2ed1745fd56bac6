package controller

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/apply"
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
	writes  writeRate
	said    said
}

// said has a hash of the last lines of each key.
type said struct {
	mu sync.Mutex
	of map[eval.Key]uint64
}

// news reports whether lines differ from those of the key's last evaluation, or belong to a
// write.
func (s *said) news(key eval.Key, revision string, lines []eval.Line, wrote bool) bool {
	hash := fnv.New64a()
	for _, line := range lines {
		fmt.Fprintf(hash, "%s %v %s %q\n", revision, line.At, line.Level, line.Message)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.of[key]
	if len(lines) == 0 {
		delete(s.of, key)
		return false
	}
	if s.of == nil {
		s.of = map[eval.Key]uint64{}
	}
	s.of[key] = hash.Sum64()
	return wrote || !known || last != s.of[key]
}

// writeRate decides which writes of a policy have a line of their own: a policy that writes
// all objects does not fill the log.
type writeRate struct {
	mu          sync.Mutex
	since       time.Time
	lines, more int
}

// maxWriteLines is how many writes of a policy are logged in a second.
const maxWriteLines = 50

// admits reports whether a write gets a line of the log. At the end of the second it calls
// tell with the number of writes that got none.
func (w *writeRate) admits(now time.Time, tell func(n int)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.since) >= time.Second {
		w.since, w.lines = now, 0
	}
	if w.lines++; w.lines <= maxWriteLines {
		return true
	}
	if w.more++; w.more == 1 {
		time.AfterFunc(time.Second-now.Sub(w.since), func() {
			w.mu.Lock()
			n := w.more
			w.more = 0
			w.mu.Unlock()
			tell(n)
		})
	}
	return false
}

// report logs and counts the result of a reconciliation.
func (l *resultLog) report(ctx context.Context, c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	if c.Policy.Mode == plan.Shadow {
		return // it writes nothing, and has reports of its own
	}
	l.metrics.Report(ctx, c, key, r)
	log := l.log.With(observe.LogPolicy, c.Policy.Name, observe.LogRevision, c.Policy.Revision, observe.LogReconcile, r.ID.String(), observe.LogKey, key.String())
	if r.Decision != nil && l.said.news(key, c.Policy.Revision, r.Decision.Log, slices.ContainsFunc(r.Outcomes, apply.Outcome.Written)) {
		for _, line := range r.Decision.Log {
			log.Log(context.Background(), levelOf(line.Level), line.Message, "at", line.At.String())
		}
	}
	explain(ctx, log, r.Record)
	l.wrote(ctx, log, c.Policy.Name, r)
	for _, err := range r.Reported {
		failed(log, err)
	}
	if r.Final != nil {
		log.Error("failed, and will not be tried again until something that it read changes", "error", r.Final.Error())
	}
	if r.Err != nil && !r.Quiet {
		failed(log, r.Err)
	}
}

// failed logs an error after which the key is evaluated again. A conflict is logged as
// information.
func failed(log *slog.Logger, err error) {
	switch {
	case errors.Is(err, context.Canceled):
	case apply.IsConflict(err):
		log.Info("decided again, because an object has changed meanwhile", "error", err.Error())
	default:
		log.Error("failed, and will be tried again", "error", err.Error())
	}
}

// wrote logs the writes of a result, without values.
func (l *resultLog) wrote(ctx context.Context, log *slog.Logger, policy string, r reconcile.Result) {
	if !log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	var woken []record.WakeDocument
	for _, o := range r.Outcomes {
		if !o.Written() || !l.writes.admits(time.Now(), func(n int) {
			l.log.Info("wrote more than is logged one by one", observe.LogPolicy, policy, "writes", n)
		}) {
			continue
		}
		if woken == nil && r.Record != nil {
			woken = r.Record.Wakes()
		}
		e := o.Effect
		log.Info("wrote", observe.LogRule, strings.Join(e.Rules, ", "), "verb", e.Verb, "subresource", e.Subresource, "target", record.ObjectOf(e.Target), "wokenBy", woken)
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
