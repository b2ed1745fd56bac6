package policies

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// survive makes a panic an error: what is wrong about one policy must not end the process
// that runs the others.
func survive(log *slog.Logger, do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("internal error (panic)", "fault", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error (panic): %v", v)
		}
	}()
	return do()
}
