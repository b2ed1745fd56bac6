package controller

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
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
	said    said

	mu sync.Mutex
	// counts has the number of writes since the period of a limit began.
	counts map[writes]int
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

// writes identifies what a limit counts: the writes of a policy, with an empty key, or those
// of a key that writes at its pace.
type writes struct{ policy, key string }

// limit returns how many writes get a line of their own in a period. Of a key at its pace only
// the first one gets it: with the line that counts the others, that is a line a minute.
func (w writes) limit() (lines int, every time.Duration) {
	if w.key != "" {
		return 1, 2 * time.Minute
	}
	return 50, time.Second
}

// admit counts a write, and reports whether it gets a line, so that neither a policy that
// writes all objects nor a key that writes for ever fills the log.
func (l *resultLog) admit(w writes) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines, every := w.limit()
	if l.counts == nil {
		l.counts = map[writes]int{}
	}
	if l.counts[w]++; l.counts[w] == 1 {
		time.AfterFunc(every, func() { l.tell(&w) })
	}
	return l.counts[w] <= lines
}

// tell ends one count, or all if one is nil. It logs how many writes got no line, and how to
// ask for them.
func (l *resultLog) tell(one *writes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.counts, func(w writes, n int) bool {
		if one != nil && w != *one {
			return false
		}
		if lines, _ := w.limit(); n > lines {
			l.log.Info(observe.LeftOut, observe.LogPolicy, w.policy, observe.LogKey, w.key, "writes", n-lines, "ask", "edict explain TYPE/NAME -n NAMESPACE")
		}
		return true
	})
}

// report logs and counts the result of a reconciliation.
func (l *resultLog) report(ctx context.Context, c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	if c.Policy.Mode == plan.Shadow {
		return // it writes nothing, and has reports of its own
	}
	l.metrics.Report(ctx, c, key, r)
	log := l.log.With(observe.LogPolicy, c.Policy.ID(), observe.LogRevision, c.Policy.Revision, observe.LogReconcile, r.ID.String(), observe.LogKey, key.String())
	if r.Decision != nil && l.said.news(key, c.Policy.Revision, r.Decision.Log, !r.Paced && slices.ContainsFunc(r.Outcomes, apply.Outcome.Written)) {
		for _, line := range r.Decision.Log {
			log.Log(context.Background(), levels[line.Level], line.Message, "at", line.At.String())
		}
	}
	explain(ctx, log, r.Record)
	of := writes{policy: c.Policy.ID()}
	if r.Paced {
		of.key = key.String()
	}
	l.wrote(ctx, log, of, r)
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
func (l *resultLog) wrote(ctx context.Context, log *slog.Logger, of writes, r reconcile.Result) {
	if !log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	var woken []record.WakeDocument
	for _, o := range r.Outcomes {
		if !o.Written() || !l.admit(of) {
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

// levels are the levels of the action log by name; "info" is the zero value.
var levels = map[string]slog.Level{"debug": slog.LevelDebug, "warning": slog.LevelWarn, "error": slog.LevelError}
