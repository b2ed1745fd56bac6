package controlplane

import "os"

const (
	// EnvTests must be set for tests that start a control plane, or build something that
	// takes minutes; make sets it. Without it go test ./... never builds a control plane.
	EnvTests = "EDICT_TEST_CONTROLPLANE"
	// EnvLong must be set for the tests of make test-long.
	EnvLong = "EDICT_TEST_LONG"
)

// Test is the part of *testing.T that skips a test.
type Test interface {
	Helper()
	Skip(args ...any)
}

// Require skips a test unless EnvTests is set.
func Require(t Test) {
	t.Helper()
	if os.Getenv(EnvTests) == "" {
		t.Skip("needs a control plane: set " + EnvTests + "=1, or run make e2e")
	}
}

// RequireLong skips a test unless EnvTests and EnvLong are set. make test runs one test of each
// mechanism on a control plane, make test-long all of them.
func RequireLong(t Test) {
	t.Helper()
	Require(t)
	if os.Getenv(EnvLong) == "" {
		t.Skip("runs in make test-long: set " + EnvLong + "=1")
	}
}
