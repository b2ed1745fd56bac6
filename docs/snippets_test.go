package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// fenced finds the blocks of a page in a language.
var fenced = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```")

// readers returns the pages that users read.
func readers(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, "../README.md")
}

// blocks returns the blocks of a page in a language.
func blocks(t *testing.T, page, language string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			out = append(out, strings.ReplaceAll(m[2], "[...]", "[]")) // [...] is what the page leaves out
		}
	}
	return out
}

// sections decode a part of a policy strictly, by the field that holds it.
var sections = map[string]func([]*document.Node, *document.Problems){
	"inputs":    func(list []*document.Node, p *document.Problems) { load.Items[v1alpha1.Input](list, "inputs", p) },
	"variables": func(list []*document.Node, p *document.Problems) { load.Items[v1alpha1.Variable](list, "variables", p) },
	"children":  func(list []*document.Node, p *document.Problems) { load.Items[v1alpha1.Child](list, "children", p) },
	"rules":     func(list []*document.Node, p *document.Problems) { load.Items[v1alpha1.Rule](list, "rules", p) },
	"metrics":   func(list []*document.Node, p *document.Problems) { load.Items[v1alpha1.Metric](list, "metrics", p) },
}

// actions are the fields by which a list of actions is recognized.
var actions = map[string]bool{
	"labels": true, "annotations": true, "status": true, "condition": true, "patch": true, "apply": true, "create": true, "delete": true,
	"finalizer": true, "select": true, "remember": true, "event": true, "log": true, "fail": true,
}

// TestSnippets: what the pages show as YAML can be read, and has no field that the
// language does not have.
func TestSnippets(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, page := range readers(t) {
		for _, block := range blocks(t, page, "yaml") {
			problems := &document.Problems{}
			if strings.Contains(block, "apiVersion: "+v1alpha1.APIVersion) {
				_, found := load.Documents(page, []byte(block))
				problems.Append(found)
				seen++
			}
			for _, n := range document.Parse(page, []byte(block), problems) {
				if snippet(n, problems) {
					seen++
				}
			}
			if problems.HasErrors() {
				t.Errorf("%s:\n%s\n%v", page, block, problems.List())
			}
		}
	}
	if seen < 25 {
		t.Errorf("%d snippets of policies were found", seen)
	}
}

// snippet checks a part of a policy, and reports whether it is one.
func snippet(n *document.Node, problems *document.Problems) bool {
	if items := n.Items(); len(items) > 0 && len(items[0].Keys) > 0 && actions[items[0].Keys[0].Text] {
		load.Items[v1alpha1.Action](items, "do", problems)
		return true
	}
	known := false
	for i, key := range n.Keys {
		if decode := sections[key.Text]; decode != nil && n.Values[i].Kind == document.List {
			decode(n.Values[i].Items(), problems)
			known = true
		}
	}
	return known
}

// writeTutorial writes a file, the first line of which is its name.
func writeTutorial(t *testing.T, dir, block string) {
	t.Helper()
	name, text, _ := strings.Cut(block, "\n")
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
