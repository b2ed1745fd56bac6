package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock takes the file lock of path, and calls waiting now and then while
// another process holds it. The kernel releases a dead process's lock.
func lock(ctx context.Context, path string, waiting func(time.Duration)) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := acquire(ctx, file, waiting); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
	}
	return func() { file.Close() }, nil
}

// acquire polls, since a blocking lock cannot be given up with ctx.
func acquire(ctx context.Context, file *os.File, waiting func(time.Duration)) error {
	start := time.Now()
	told := start
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if now := time.Now(); now.Sub(told) >= progressInterval {
			told = now
			waiting(now.Sub(start).Round(time.Second))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
