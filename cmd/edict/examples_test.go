package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs the examples in the help of commands that need no cluster, in
// the root of the repository.
func TestExamples(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	folder := t.TempDir()
	ran := map[string]int{}
	for _, cmd := range root().Commands() {
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			arguments, offline := strings.CutPrefix(line, "edict "+cmd.Name()+" ")
			serves := cmd.Name() == "explore" && !strings.Contains(line, "--export")
			if !offline || serves || !strings.Contains(line, "examples/") {
				continue
			}
			ran[cmd.Name()]++
			args := append([]string{cmd.Name()}, strings.Fields(arguments)...)
			for i := range args {
				switch {
				case i > 0 && (args[i-1] == "--out" || args[i-1] == "--export"):
					args[i] = filepath.Join(folder, filepath.Base(args[i]))
				case i > 0 && args[i-1] == "--time":
					args[i] = "1s"
				}
			}
			if err := example(args); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	for _, name := range []string{"simulate", "snapshot", "plan", "explain", "capture"} {
		if ran[name] == 0 {
			t.Errorf("the help of edict %s has no example that needs no cluster", name)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) < 2 {
		t.Errorf("%d files were written, %v", len(files), err)
	}
}

// example runs a command. That something changes is what it is for.
func example(args []string) error {
	cmd := root()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	if _, ok := err.(changes); ok { //nolint:errorlint // it is returned as it is
		return nil
	}
	return err
}
