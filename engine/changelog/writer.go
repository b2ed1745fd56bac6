package changelog

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/edict-dev/edict/engine/record"
)

// Writer appends the writes of decisions to a log, beside whoever decides.
type Writer struct {
	out     io.Writer
	log     *slog.Logger
	records chan *record.Record
	dropped atomic.Int64
	done    sync.WaitGroup
}

// queued is how many decisions may wait to be written. Beyond it they are left out
// of the log: it must not slow the controller down.
const queued = 1024

// New returns a Writer that writes to out until Close.
func New(out io.Writer, log *slog.Logger) *Writer {
	w := &Writer{out: out, log: log, records: make(chan *record.Record, queued)}
	w.done.Go(w.work)
	return w
}

// Add takes a decision. It never waits.
func (w *Writer) Add(r *record.Record) {
	if len(r.Decision.Effects) == 0 {
		return
	}
	select {
	case w.records <- r:
	default:
		w.dropped.Add(1)
	}
}

// Close writes what waits. Nothing may be added after it.
func (w *Writer) Close() {
	close(w.records)
	w.done.Wait()
}

func (w *Writer) work() {
	defer w.warn()
	for r := range w.records {
		w.warn()
		for _, line := range Lines(context.Background(), r) {
			if err := w.write(line); err != nil {
				w.log.Error("the change log cannot be written", "error", err.Error())
			}
		}
	}
}

// warn says how many decisions were left out since the last time.
func (w *Writer) warn() {
	if n := w.dropped.Swap(0); n > 0 {
		w.log.Warn("the change log is incomplete: it cannot keep up", "missing", n)
	}
}

func (w *Writer) write(line Line) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.out.Write(append(text, '\n'))
	return err
}
