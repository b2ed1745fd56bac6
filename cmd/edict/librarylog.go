package main

import (
	"context"
	"errors"
	"log/slog"
)

// libraryLog is the log of client-go and controller-runtime. What this process ends itself, such
// as its requests and the leader election when it stops, is no error there.
type libraryLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (l libraryLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelError || !ended(r) {
		return l.Handler.Handle(ctx, r)
	}
	if r.Level = slog.LevelDebug; !l.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l libraryLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return libraryLog{l.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (l libraryLog) WithGroup(name string) slog.Handler { return libraryLog{l.Handler.WithGroup(name)} }

// ended reports whether the error of a record is a canceled request, or the end of the leader
// election in a manager that stops.
func ended(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && (errors.Is(err, context.Canceled) || r.Message == "error received after stop sequence was engaged" && err.Error() == "leader election lost")
		return !found
	})
	return found
}
