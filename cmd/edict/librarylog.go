package main

import (
	"context"
	"errors"
	"log/slog"
)

// libraryLog is the log of client-go. Requests that this process cancels itself, as the
// leader election does when it stops, are no errors there.
type libraryLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (l libraryLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelError || !canceled(r) {
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

// canceled reports whether the error of a record is that its request was canceled.
func canceled(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && errors.Is(err, context.Canceled)
		return !found
	})
	return found
}
