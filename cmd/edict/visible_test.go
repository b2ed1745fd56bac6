package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestVisible: a terminal shows what it would obey, however the text is cut into writes.
func TestVisible(t *testing.T) {
	t.Parallel()
	const text = "é€😀\ta\x1b[2J\r\x00\x7f\u009b\u202e\u2066\u200f\xff\n"
	const want = "é€😀\ta" + `\x1b[2J\x0d\x00\x7f\u009b\u202e\u2066\u200f\xff` + "\n"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := visible(&out)
		for rest := text; rest != ""; {
			n, err := w.Write([]byte(rest[:min(size, len(rest))]))
			if err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Errorf("in pieces of %d: %q", size, out.String())
		}
	}
}

// TestPrintsText: what a program reads is not changed.
func TestPrintsText(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]bool{ // not on a terminal, and on one
		"simulate": {true, true}, "simulate -o json": {false, false}, "simulate -o yaml": {false, false}, "eval": {false, false}, "rbac": {false, false},
		"rbac -o table": {true, true}, "check": {true, true}, "check -o sarif": {false, false}, "test -o junit": {false, false}, "graph -o dot": {false, true},
		"snapshot": {false, true}, "capture": {false, true}, "run": {false, false}, "hold list": {true, true}, "explain": {true, true},
	} {
		cmd, rest, err := root().Find(strings.Fields(line))
		if err != nil {
			t.Fatal(line, err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Fatal(line, err)
		}
		if got := [2]bool{printsText(cmd, false), printsText(cmd, true)}; got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestProtocolsStay: the streams of protocols and scripts are left alone.
func TestProtocolsStay(t *testing.T) {
	t.Parallel()
	all := root()
	all.InitDefaultCompletionCmd()
	for line, want := range map[string]bool{"lsp": false, childName: false, "completion bash": false, "simulate": true} {
		cmd, _, err := all.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(line, err)
		}
		showControls(cmd)
		_, out := cmd.OutOrStdout().(*visibleWriter)
		_, errOut := cmd.ErrOrStderr().(*visibleWriter)
		if out != want || errOut != want {
			t.Errorf("%s: %v, %v", line, out, errOut)
		}
	}
	if !isCommand(&cobra.Command{Use: "lsp"}, "lsp") {
		t.Error("a command does not have its own name")
	}
}

// TestControlsOfPolicies: names and values of a stranger's files do not reach the
// terminal as they are, in JSON they stay what they are, and a name begins no line.
func TestControlsOfPolicies(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	policy := write(t, folder, "p.yaml", strings.NewReplacer("mark", `"mark\e]0;x\nfailed"`, "labels", "annotations", "one: old", `x: "a\e[2J\u202e"`).Replace(marking("one", "old")))
	objects := write(t, folder, "objects/node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
	test := write(t, folder, "t.yaml", "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]\n  cases: [{name: \"x\\e[1m\\nok\", expect: {errors: [\"none\"]}}]\n")
	world := []string{"--policies", policy, "--objects", filepath.Dir(objects)}
	for _, args := range [][]string{append([]string{"simulate"}, world...), append([]string{"explain", "one", "a"}, world...), {"graph", policy}, {"check", policy}, {"test", test}, {"no\x1b[1m"}} {
		got := program(t, args...)
		if all := got.stdout + got.stderr; strings.ContainsAny(all, "\x1b\u202e") || strings.Contains(all, "\nfailed\n") || strings.Contains(all, "\nok\n") {
			t.Errorf("%v: %q", args, all)
		}
		t.Logf("%v: %s%s", args, got.stdout, got.stderr)
	}
	got := program(t, append([]string{"simulate", "-o", "json"}, world...)...)
	if !json.Valid([]byte(got.stdout)) || !strings.Contains(got.stdout, "\u202e") {
		t.Errorf("%q", got.stdout)
	}
}

// TestAMessageIsNoLine: what an object says cannot look like a line of the command.
func TestAMessageIsNoLine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	policy := writeFile(t, folder, "p.yaml", "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  rules: [{name: r, do: [{fail: 'bad ${object.data.x}'}]}]\n")
	objects := writeFile(t, folder, "o.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "o", "namespace": "d"}, "data": {"x": "\nerror: fake"}}`)
	for _, command := range [][]string{{"simulate"}, {"plan"}, {"explain", "p", "d/o"}} {
		got := program(t, append(command, "--policies", policy, "--objects", objects)...)
		if !strings.Contains(got.stdout, "bad") || strings.Contains(got.stdout+got.stderr, "\nerror: fake") {
			t.Errorf("%v: %s%s", command, got.stdout, got.stderr)
		}
	}
}
