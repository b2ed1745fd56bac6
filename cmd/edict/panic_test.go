package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestPanics: a bug ends a command with the exit code of a failure, and says
// what to report.
func TestPanics(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { panic("a bug") }}
	cmd.SetArgs(nil)
	_, err := surviving(t.Context(), cmd)
	if _, ok := errors.AsType[findings](err); !ok || !strings.Contains(err.Error(), "internal error (panic): a bug; this is a bug of edict") {
		t.Errorf("got %v", err)
	}
}
