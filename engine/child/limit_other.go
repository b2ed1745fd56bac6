//go:build !linux

package child

import (
	"runtime/debug"
	"syscall"
	"time"
)

// limit cannot be held here: only the collector is told.
func limit(memory int64) error {
	debug.SetMemoryLimit(memory / 4 * 3)
	return nil
}

// attributes are none here: the child ends when its input does.
func attributes() *syscall.SysProcAttr { return nil }

// processorTime is not known here.
func processorTime(int) (time.Duration, bool) { return 0, false }
