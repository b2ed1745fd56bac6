package controlplane

import "os"

// EnvTests must be set for tests that start a control plane, or build something that takes
// minutes; make sets it. Without it go test ./... never builds a control plane.
const EnvTests = "EDICT_TEST_CONTROLPLANE"

// Require skips a test unless EnvTests is set.
func Require(t interface {
	Helper()
	Skip(args ...any)
}) {
	t.Helper()
	if os.Getenv(EnvTests) == "" {
		t.Skip("needs a control plane: set " + EnvTests + "=1, or run make e2e")
	}
}
