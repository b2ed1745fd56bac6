package lsp_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/lsp"
)

// TestUnsaved: an open document need not be on the disk, and a position after its last line
// is at its end.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	e.uri = "file:///nowhere/new.yaml"
	e.open(strings.Replace(policy, "variables.many &&", "variables. &&", 1))
	var items []lsp.CompletionItem
	if err := e.request("textDocument/completion", e.at("variables.| &&"), &items); err != nil || len(items) == 0 {
		t.Errorf("completion: %v, %v", items, err)
	}
	if err := e.request("textDocument/hover", e.at("variables|. &&"), nil); err != nil {
		t.Errorf("hover: %v", err)
	}
	after := map[string]any{"textDocument": map[string]any{"uri": e.uri}, "position": map[string]any{"line": 1000, "character": 3}}
	for _, method := range []string{"textDocument/completion", "textDocument/hover", "textDocument/definition"} {
		if err := e.request(method, after, nil); err != nil {
			t.Errorf("%s after the last line: %v", method, err)
		}
	}
}
