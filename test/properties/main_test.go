package properties

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: worlds are many, and each is soon gone.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
