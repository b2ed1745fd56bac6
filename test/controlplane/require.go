package controlplane

import (
	"os"

	"github.com/edict-dev/edict/test/budget"
)

// EnvTests must be set for tests that start a control plane, or build something that
// takes minutes; make sets it. Without it go test ./... never builds a control plane.
const EnvTests = "EDICT_TEST_CONTROLPLANE"

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

// RequireLong skips a test unless EnvTests is set and tests run in full. make test runs one test
// of each mechanism on a control plane, make test-long all of them.
func RequireLong(t Test) {
	t.Helper()
	Require(t)
	if !budget.Long() {
		t.Skip("runs in make test-long: set EDICT_TEST_LONG=1")
	}
}
