package lsp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/edict-dev/edict/engine/lsp"
)

// marks is a policy that writes a label.
const marks = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: %s}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules:
    - name: mark
      do:
        - labels: {set: {team: %s}}
`

// moves is a policy that copies one entry of the data to another.
const moves = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: %s}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules:
    - name: move
      when: object.?data[?"%[2]s"].orValue("") != ""
      do:
        - patch: {value: {data: {%[3]s: "${object.data.%[2]s}"}}}
`

// file writes a file beside the policy, and returns its URI.
func (e *editor) file(name, text string) string {
	e.t.Helper()
	path := filepath.Join(e.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	return "file://" + path
}

// send opens a document with a text, or changes it.
func (e *editor) send(method, uri, text string) {
	e.notify("textDocument/"+method, map[string]any{
		"textDocument": map[string]any{"uri": uri, "text": text}, "contentChanges": []any{map[string]any{"text": text}},
	})
}

// published returns the next findings that are sent, as lines.
func (e *editor) published() string {
	e.t.Helper()
	m, err := e.conn.Read()
	if err != nil {
		e.t.Fatal(err)
	}
	var params struct {
		URI         string           `json:"uri"`
		Diagnostics []lsp.Diagnostic `json:"diagnostics"`
	}
	if err := json.Unmarshal(m.Params, &params); m.Method != "textDocument/publishDiagnostics" || err != nil {
		e.t.Fatalf("%+v, %v", m, err)
	}
	out := filepath.Base(params.URI)
	for _, d := range params.Diagnostics {
		out += fmt.Sprintf("\n%d: %s", d.Range.Start.Line+1, d.Code)
		for _, r := range d.Related {
			out += fmt.Sprintf(", %s:%d:%d %s", filepath.Base(r.Location.URI), r.Location.Range.Start.Line+1, r.Location.Range.Start.Character+1, r.Message)
		}
	}
	return out
}

// wants reads as many findings as are given, which may come in any order: what is still
// to be checked of a change is checked first after the next. All that a change causes
// must be given, or the next one reads the rest.
func (e *editor) wants(lists ...string) {
	e.t.Helper()
	var got []string
	for range lists {
		got = append(got, e.published())
	}
	if diff := cmp.Diff(lists, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		e.t.Fatal(diff)
	}
}

// TestFolder: what the policies of a folder do to each other is reported in each that
// it concerns, by the texts of the editor, and is sent again when it changes.
func TestFolder(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	e.send("didClose", e.uri, "")
	e.wants("p.yaml")
	first, second := e.file("a.yaml", fmt.Sprintf(marks, "first", "a")), e.file("b.yaml", "# x\n"+fmt.Sprintf(marks, "second", "a"))

	e.send("didOpen", first, fmt.Sprintf(marks, "first", "b"))
	e.wants("a.yaml\n7: conflicting-writers, b.yaml:8:7 found here")
	e.send("didOpen", second, "# é\n# x\n"+fmt.Sprintf(marks, "second", "a"))
	e.wants(`b.yaml
9: conflicting-writers, a.yaml:7:7 the rule "mark" of first`, "a.yaml\n7: conflicting-writers, b.yaml:9:7 found here")
	e.send("didChange", second, "# x\n"+fmt.Sprintf(marks, "second", "b")) // the same constant
	e.wants("b.yaml", "a.yaml")
	e.send("didChange", second, "# x\n"+fmt.Sprintf(marks, "first", "b"))
	e.wants("b.yaml\n4: invalid, a.yaml:3:18 found here", "a.yaml\n3: invalid, b.yaml:4:18 found here")
	e.send("didClose", second, "") // back to what the file has
	e.wants("b.yaml", "a.yaml\n7: conflicting-writers, b.yaml:8:7 found here")

	e.file("b.yaml", "") // by another program
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.wants("a.yaml")
	e.file("b.yaml", fmt.Sprintf(moves, "second", "x", "y"))
	e.send("didChange", first, fmt.Sprintf(moves, "first", "y", "x"))
	e.wants(`a.yaml
7: feedback-loop, b.yaml:7:7 the rule "move" of second`)
	accepted := strings.Replace(fmt.Sprintf(moves, "first", "y", "x"), "    - name: move", "    # edict:accept feedback-loop it comes to rest\n    - name: move", 1)
	e.send("didChange", first, accepted)
	e.wants("a.yaml")
}

// TestElsewhere: a finding is accepted where it is found, in the other document.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	e.file("a.yaml", fmt.Sprintf(marks, "a", "a"))
	for name, titles := range map[string]int{"0": 0, "z": 1} {
		e.open(fmt.Sprintf(marks, name, "z"))
		var actions []struct{ Title string }
		params := map[string]any{"textDocument": map[string]any{"uri": e.uri}, "context": map[string]any{"diagnostics": e.diagnostics}}
		if err := e.request("textDocument/codeAction", params, &actions); err != nil || len(e.diagnostics) != 1 || len(actions) != titles {
			t.Errorf("%s: %v, %+v for %+v", name, err, actions, e.diagnostics)
		}
	}
}

// TestManyChanges: of changes that come faster than they are checked, only the last is.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	const many = 40
	for i := range many { // none of the answers is read meanwhile
		e.send("didChange", e.uri, policy+strings.Repeat("\n", i)+"wrong: 1\n")
	}
	for sent, last := 1, strings.Count(policy, "\n")+many; ; sent++ {
		if list := e.published(); strings.Contains(list, fmt.Sprintf("\n%d: ", last)) {
			break
		}
		if sent > 3 { // the one in flight, the one before the last was read, the last
			t.Fatal("every change was checked")
		}
	}
}

// TestOthersThatAreWrong do not keep a document from being checked.
func TestOthersThatAreWrong(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	e.file("a.yaml", "a: b: c")
	e.file("b.json", "{")
	e.file("c.yaml", strings.Replace(fmt.Sprintf(marks, "c", "a"), "team", "${team}", 1))
	e.send("didChange", e.uri, strings.Replace(policy, "variables.many &&", "variables.mny &&", 1))
	e.wants("p.yaml\n21: invalid")
	for i := range 400 {
		e.file(fmt.Sprintf("m%d.yaml", i), "a: 1")
	}
	e.file("z.yaml", strings.ReplaceAll(policy, "limit: 3", "limit: 4"))
	e.send("didChange", e.uri, policy)
	e.wants("p.yaml\n13: unused-variable\n27: missing-allowance")
}
