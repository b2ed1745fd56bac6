// Package extending_test compiles and runs the code of docs/extending.md.
package extending_test

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

// edits are the files of this repository as the page changes them, by path.
type edits struct {
	t     *testing.T
	root  string
	files map[string]string
}

func newEdits(t *testing.T) *edits {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return &edits{t: t, root: root, files: map[string]string{}}
}

func (e *edits) file(path string) string {
	e.t.Helper()
	if text, ok := e.files[path]; ok {
		return text
	}
	text, err := os.ReadFile(filepath.Join(e.root, path))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

// before inserts a text before an anchor that a file has once.
func (e *edits) before(path, anchor, text string) {
	e.t.Helper()
	have := e.file(path)
	if strings.Count(have, anchor) != 1 {
		e.t.Fatalf("%s has %q %d times: docs/extending.md no longer says where its code goes", path, anchor, strings.Count(have, anchor))
	}
	e.files[path] = strings.Replace(have, anchor, text+anchor, 1)
}

// overlay writes the edits where the go command takes them from.
func (e *edits) overlay() string {
	e.t.Helper()
	folder, replace := e.t.TempDir(), map[string]string{}
	for path, text := range e.files {
		to := filepath.Join(folder, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			e.t.Fatal(err)
		}
		replace[filepath.Join(e.root, path)] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		e.t.Fatal(err)
	}
	file := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		e.t.Fatal(err)
	}
	return file
}

func (e *edits) run(folder, name string, args ...string) {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), name, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "no tests to run") {
		e.t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// blocks returns the Go code of the page, in its order.
func (e *edits) blocks() (out []string) {
	e.t.Helper()
	fence := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	for _, match := range fence.FindAllStringSubmatch(e.file("docs/extending.md"), -1) {
		block := match[1]
		if strings.Contains(block, "\npackage ") || strings.HasPrefix(block, "package ") {
			if formatted, err := format.Source([]byte(block)); err != nil || string(formatted) != block {
				e.t.Errorf("not formatted (%v):\n%s", err, block)
			}
		}
		out = append(out, block)
	}
	return out
}

const blocksOfThePage = 13

func TestExtending(t *testing.T) {
	t.Parallel()
	controlplane.Require(t)
	e := newEdits(t)
	program.OpenFolders(t, filepath.Join(e.root, "engine"), filepath.Join(e.root, "builtins"))
	blocks := e.blocks()
	if len(blocks) != blocksOfThePage {
		t.Fatalf("the page has %d blocks of Go, want %d", len(blocks), blocksOfThePage)
	}
	e.builtin(blocks[:3])
	e.action(blocks[3:])
	overlay := e.overlay()
	binary := filepath.Join(t.TempDir(), "dns.test")
	e.run(e.root, "go", "test", "-vet=off", "-overlay", overlay, "-c", "-o", binary, "./builtins/dns")
	e.run(e.root, binary)
	e.run(e.root, "go", "test", "-overlay", overlay, "-vet=off", "-run", "^(TestBuiltinsDeclare|TestDeclaredIsEnough|TestOwner|TestAccesses|TestLacks)$",
		"./engine/expr/cel", "./engine/eval", "./engine/compile", "./engine/guard")
}

// builtin makes the edits of the first example.
func (e *edits) builtin(blocks []string) {
	e.t.Helper()
	e.files["builtins/dns/dns.go"] = blocks[0]
	const list = "builtins/builtins.go"
	old := regexp.MustCompile(`(?ms)^func Functions\(\).*?^}\n`)
	if !old.MatchString(e.file(list)) {
		e.t.Fatalf("%s has no function Functions", list)
	}
	e.files[list] = old.ReplaceAllLiteralString(e.file(list), blocks[1])
	e.before(list, "\t\"github.com/edict-dev/edict/builtins/extender\"\n", "\t\"github.com/edict-dev/edict/builtins/dns\"\n")
	for part := range strings.FieldsSeq(old.FindString(string(e.original(list)))) {
		if !strings.Contains(blocks[1], part) {
			e.t.Errorf("the list of builtins on the page lacks %s", part)
		}
	}
	e.files["builtins/dns/dns_test.go"] = "package dns\n\nimport (\n\t\"strings\"\n\t\"testing\"\n\n\t\"k8s.io/apimachinery/pkg/util/validation\"\n\n\t\"github.com/edict-dev/edict/engine/value\"\n)\n\n" + blocks[2]
}

func (e *edits) original(path string) []byte {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.root, path))
	if err != nil {
		e.t.Fatal(err)
	}
	return text
}

// action makes the edits of the second example.
func (e *edits) action(blocks []string) {
	e.t.Helper()
	field, declaration, ok := strings.Cut(blocks[0], "}\n\n")
	lines := strings.SplitAfter(field, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "yaml:") })
	if !ok || at < 1 {
		e.t.Fatalf("no field and no type in\n%s", blocks[0])
	}
	const rule = "engine/api/v1alpha1/rule.go"
	e.before(rule, "\t// Select chooses the best of many candidates.\n", lines[at-1]+lines[at])
	e.files[rule] += "\n" + declaration
	e.files["engine/plan/action.go"] = e.file("engine/plan/action.go") + "\n" + blocks[1]
	e.before("engine/compile/actions.go", "\tdefault:\n\t\treturn remember(", blocks[2])
	e.files["engine/compile/owner.go"] = blocks[3]
	e.before("engine/eval/actions.go", "\tcase *plan.Remember:\n", blocks[4])
	e.files["engine/eval/owner.go"] = blocks[5]
	e.before("engine/guard/static.go", "\t\tcase *plan.ListEntry:\n", blocks[6])
	e.files["engine/eval/owner_test.go"] = "package eval_test\n\nimport (\n\t\"testing\"\n\n\t\"github.com/google/go-cmp/cmp\"\n)\n\n" + blocks[7]
	e.before("engine/compile/access_test.go", "\t\t\"remember\": ", blocks[8])
	e.before("engine/guard/static_test.go", "\t\t\"in a list\": ", blocks[9])
}
