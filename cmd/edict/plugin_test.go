package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlugin: as a plugin of kubectl the program names itself so, and answers what kubectl asks to
// complete a command.
func TestPlugin(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		pluginName:           {[]string{"check", "--help"}, []string{"Usage:\n  kubectl edict check PATH... [flags]\n"}},
		pluginCompletionName: {[]string{"pl"}, []string{"plan\tShow what an edit of policies changes", "\n:4\n"}},
		"edict":              {[]string{"check", "--help"}, []string{"Usage:\n  edict check PATH... [flags]\n"}},
	} {
		path := filepath.Join(folder, name)
		if err := os.Symlink(self, path); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), path, tc.args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		out, err := cmd.Output()
		for _, want := range tc.want {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, want %q in\n%s", name, err, want, out)
			}
		}
	}
}
