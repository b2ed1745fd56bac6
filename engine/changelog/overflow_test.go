package changelog_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/edict-dev/edict/engine/changelog"
)

// stuck is a log that takes nothing until it is told to.
type stuck struct {
	bytes.Buffer
	entered, free chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case s.entered <- struct{}{}:
	case <-s.free:
	}
	<-s.free
	return s.Buffer.Write(p)
}

// TestOverflow: who decides never waits for the log. What it cannot take is left out,
// and a warning says how many decisions.
func TestOverflow(t *testing.T) {
	t.Parallel()
	const queued, missing = 1024, 7
	r := decided(t)
	var told bytes.Buffer
	out := &stuck{entered: make(chan struct{}), free: make(chan struct{})}
	w := changelog.New(out, slog.New(slog.NewJSONHandler(&told, nil)))
	w.Add(r)
	<-out.entered // it is being written, and the queue is empty
	for range queued + missing {
		w.Add(r)
	}
	close(out.free)
	w.Close()
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1+queued {
		t.Errorf("%d lines, want %d", n, 1+queued)
	}
	var warning struct {
		Level, Msg string
		Missing    int
	}
	if err := json.Unmarshal(told.Bytes(), &warning); err != nil || warning.Level != "WARN" || warning.Missing != missing || warning.Msg != "the change log is incomplete: it cannot keep up" {
		t.Errorf("%v: %s", err, told.String())
	}
}
