package program_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/edict-dev/edict/test/program"
)

func TestBuild(t *testing.T) {
	t.Parallel()
	path := program.Build(t)
	if filepath.Base(path) != "edict" {
		t.Errorf("got %s", path)
	}
	if out, err := exec.CommandContext(t.Context(), path, "version").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
