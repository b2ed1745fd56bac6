package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/lsp"
	"github.com/edict-dev/edict/engine/lsp/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  params: {limit: 3}
  inputs:
    - name: pods
      apiVersion: v1
      kind: Pod
      where: item.spec.nodeName == key.name
  variables:
    - name: names
      expression: inputs.pods.map(p, p.metadata.name)
    - name: many
      expression: >-
        size(inputs.pods) >
        params.limit
  rules:
    - name: full
      when: variables.many && labels.matches("a=b", object.metadata.?labels)
      forEach: inputs.pods
      as: pod
      variables:
        - {name: where, expression: pod.spec.nodeName}
      do:
        - labels: {set: {"full-${where}": "inputs.pods: ${string(size(inputs.pods))}"}}
`

// editor is the other side of a server.
type editor struct {
	t    *testing.T
	conn *rpc.Conn
	uri  string
	text string
	next int
	// diagnostics are those of the last text.
	diagnostics []lsp.Diagnostic
	done        chan error
	folder      string
}

// edit starts a server and opens a text.
func edit(t *testing.T, text string) *editor {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "p.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	e := &editor{t: t, conn: rpc.New(fromServer, toServer), uri: "file://" + file, done: make(chan error, 1), folder: folder}
	server := lsp.New(fromEditor, toEditor, "test", lsp.Options{})
	go func() { e.done <- server.Run(context.WithoutCancel(t.Context())) }()
	t.Cleanup(func() {
		if err := e.request("shutdown", nil, nil); err != nil {
			t.Error(err)
		}
		e.notify("exit", nil)
		if err := <-e.done; err != nil {
			t.Error(err)
		}
	})
	if err := e.request("initialize", map[string]any{}, nil); err != nil {
		t.Fatal(err)
	}
	e.notify("initialized", map[string]any{})
	e.open(text)
	return e
}

// open sends a text and waits for its diagnostics.
func (e *editor) open(text string) {
	e.text = text
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri, "languageId": "yaml", "version": 1, "text": text}})
	e.wait()
}

func (e *editor) wait() {
	e.t.Helper()
	m, err := e.conn.Read()
	if err != nil {
		e.t.Fatal(err)
	}
	var params struct {
		Diagnostics []lsp.Diagnostic `json:"diagnostics"`
	}
	if m.Method != "textDocument/publishDiagnostics" || json.Unmarshal(m.Params, &params) != nil {
		e.t.Fatalf("%+v", m)
	}
	e.diagnostics = params.Diagnostics
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.conn.Write(&rpc.Message{Method: method, Params: raw}); err != nil {
		e.t.Fatal(err)
	}
}

// request sends a request, and reads the result into out.
func (e *editor) request(method string, params, out any) error {
	e.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		e.t.Fatal(err)
	}
	e.next++
	id, _ := json.Marshal(e.next)
	if err := e.conn.Write(&rpc.Message{ID: id, Method: method, Params: raw}); err != nil {
		e.t.Fatal(err)
	}
	m, err := e.conn.Read()
	if err != nil || string(m.ID) != string(id) {
		e.t.Fatal(m, err)
	}
	if m.Error != nil {
		return m.Error
	}
	if out != nil {
		if err := json.Unmarshal(m.Result, out); err != nil {
			e.t.Fatal(err)
		}
	}
	return nil
}

// at returns the params of a request about the place of | in a piece of the text,
// which the text has without it.
func (e *editor) at(piece string) map[string]any {
	e.t.Helper()
	before, after, _ := strings.Cut(piece, "|")
	i := strings.Index(e.text, before+after)
	if i < 0 {
		e.t.Fatalf("the text has no %q", before+after)
	}
	above := e.text[:i+len(before)]
	line := strings.Count(above, "\n")
	last := above[strings.LastIndex(above, "\n")+1:]
	return map[string]any{
		"textDocument": map[string]any{"uri": e.uri},
		"position":     map[string]any{"line": line, "character": len(utf16.Encode([]rune(last)))},
	}
}

// TestDiagnostics are the findings of edict check, of what the editor has unsaved.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	if len(e.diagnostics) > 2 { // the unused variable, and the allowance for the label
		t.Errorf("%+v", e.diagnostics)
	}
	e.text = strings.Replace(policy, "p.metadata.name)", "p.metadata.nam)", 1)
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri}, "contentChanges": []any{map[string]any{"text": e.text}}})
	e.wait()
	if len(e.diagnostics) != 1 {
		t.Fatalf("%+v", e.diagnostics)
	}
	d := e.diagnostics[0]
	want := lsp.Range{Start: lsp.Position{Line: 13, Character: 47}, End: lsp.Position{Line: 13, Character: 51}}
	if d.Range != want || d.Code != "invalid" || d.Severity != 1 || d.CodeDescription == nil || !strings.HasSuffix(d.CodeDescription.Href, "/docs/checks/invalid.md") {
		t.Errorf("%+v", d)
	}
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri}})
	if e.wait(); len(e.diagnostics) != 0 {
		t.Errorf("%+v", e.diagnostics)
	}
}

// TestCompletion offers fields of kinds, names, builtins and fields of the document.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		replace, with, at string
		want, without     string
	}{
		"fields of a kind":       {"variables.many &&", "object.spec. &&", "object.spec.| &&", "unschedulable", "many"},
		"the beginning of one":   {"variables.many &&", "object.spec.unsch &&", "object.spec.unsch| &&", "unschedulable", "many"},
		"optional fields":        {"variables.many &&", "object.?status. &&", "object.?status.| &&", "conditions", "many"},
		"an item of an input":    {"item.spec.nodeName", "item.spec.n", "item.spec.n|", "nodeName", "podCIDR"},
		"inputs":                 {"inputs.pods.map", "inputs..map", "inputs.|.map", "pods", "many"},
		"variables":              {"variables.many &&", "variables. &&", "variables.| &&", "many", "pods"},
		"params":                 {"params.limit", "params.", "params.|", "limit", "pods"},
		"names":                  {"variables.many &&", "v &&", "v| &&", "variables.names", "unschedulable"},
		"builtins":               {"labels.matches(", "labels.(", "labels.|(", "matchesMap", "many"},
		"a variable of a loop":   {"p.metadata.name", "p.metadata.", "p, p.metadata.|", "name", "many"},
		"a variable of a rule":   {"${where}", "${pod.spec.}", "${pod.spec.|}", "nodeName", "many"},
		"functions of a list":    {"size(inputs.pods) >", "inputs.pods. >", "inputs.pods.| >", "exists", "many"},
		"functions of a text":    {"${where}", "${where.}", "${where.|}", "startsWith", "many"},
		"an empty expression":    {"variables.many && labels.matches(\"a=b\", object.metadata.?labels)", "", "when: |\n", "variables.many", "unschedulable"},
		"fields of a rule":       {"      forEach: inputs.pods\n", "      \n      forEach: inputs.pods\n", "\n      |\n", "debounce", "inputs"},
		"sections":               {"  rules:", "  \n  rules:", "\n  |\n", "children", "debounce"},
		"actions":                {"        - labels:", "        - \n        - labels:", "        - |\n", "condition", "debounce"},
		"values of a field":      {"  params: {", "  mode: \n  params: {", "mode: |\n", "Shadow", "limit"},
		"namespaces of an input": {"      kind: Pod\n", "      kind: Pod\n      within: \n", "within: |\n", "cluster", "limit"},
		"fields of kinds":        {"  rules:", "  inputs:\n    - name: w\n      kinds:\n        - \n  rules:", "        - |\n  rules", "apiVersion", "where"},
		"an action's own fields": {"        - labels: {set", "        - event:\n            \n        - labels: {set", "event:\n            |\n", "reason", "debounce"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, strings.Replace(policy, tc.replace, tc.with, 1))
			var items []lsp.CompletionItem
			if err := e.request("textDocument/completion", e.at(tc.at), &items); err != nil {
				t.Fatal(err)
			}
			labels := map[string]bool{}
			for _, i := range items {
				labels[i.Label] = true
			}
			if !labels[tc.want] || labels[tc.without] {
				t.Errorf("offered: %v", labels)
			}
		})
	}
}

// TestCompletionOfKinds offers the fields that all kinds of a document have.
func TestCompletionOfKinds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want, without string }{
		"fields of all":  {"object.spec.", "selector", "replicas"},
		"names":          {"object.metadata.name == v", "variables.many", "unschedulable"},
		"fields of for":  {"", "optional", "rules"},
		"params, as one": {"params.", "limit", "many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  params: {limit: 3}\n  for:\n    kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: DaemonSet}]\n    \n" +
				"  variables: [{name: many, expression: 'true'}]\n  rules:\n    - name: r\n      when: " + tc.text + "\n      do: [{labels: {set: {a: b}}}]\n"
			at := "when: " + tc.text + "|\n"
			if tc.text == "" {
				text, at = strings.Replace(text, "when: ", "when: variables.many", 1), "DaemonSet}]\n    |\n"
			}
			e := edit(t, text)
			var items []lsp.CompletionItem
			if err := e.request("textDocument/completion", e.at(at), &items); err != nil {
				t.Fatal(err)
			}
			labels := map[string]int{}
			for _, i := range items {
				labels[i.Label]++
			}
			if labels[tc.want] != 1 || labels[tc.without] != 0 {
				t.Errorf("offered: %v", labels)
			}
		})
	}
}

// TestHover tells types, documentation and what fields mean.
func TestHover(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	for at, want := range map[string]string{
		"variables.ma|ny &&":        "variables.many: bool",
		"variables.many && lab|els": "labels.matches(dyn, dyn) -> bool",
		"inputs.po|ds.map":          "an input of the kind Pod, line 8",
		"p, p.metadata.na|me":       "p.metadata.name: string",
		"${wh|ere}":                 "a variable of the rule full, line 25",
		"item.spec.nodeN|ame":       "item.spec.nodeName: string",
		"params.li|mit":             "params.limit: int",
		"      forE|ach: inputs":    "forEach runs the rule once per item of a list.",
		"  ru|les:":                 "rules are evaluated in their order.",
		"        - lab|els: {set":   "labels sets or removes labels.",
		"    - na|me: names":        "name is that of the variable",
		"kind: No|de":               "",
	} {
		var got *struct {
			Contents struct{ Value string } `json:"contents"`
		}
		if err := e.request("textDocument/hover", e.at(at), &got); err != nil {
			t.Fatal(err)
		}
		switch {
		case want == "" && got != nil, want != "" && (got == nil || !strings.Contains(got.Contents.Value, want)):
			t.Errorf("%s: %+v", at, got)
		}
	}
}

// widgets defines a kind with descriptions.
const widgets = `kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Cluster
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: {type: integer, description: how large it is}
                parts: {type: array, items: {type: object, properties: {name: {type: string, description: which part}, other: {type: string}}}}
`

// TestDescriptions of fields are those of the schemas, in hovers and completion.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	if err := os.MkdirAll(filepath.Join(e.folder, "schemas"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.folder, "schemas", "widgets.yaml"), []byte(widgets), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("apiVersion: v1, kind: Node", "apiVersion: example.com/v1, kind: Widget",
		"size(inputs.pods) >", "object.spec.size + object.spec.parts.filter(x, x.name != x.other).size() >").Replace(policy)
	e.open(text)
	for at, want := range map[string]string{
		"object.spec.si|ze":        "object.spec.size: int\n```\nhow large it is",
		"(x, x.na|me":              "x.name: string\n```\nwhich part",
		"!= x.oth|er":              "x.other: string\n```",
		"item.spec.node|Name":      "item.spec.nodeName: string\n```\nNodeName indicates in which node this pod is scheduled.",
		"(p, p.metadata.na|me":     "Name must be unique within a namespace.",
		"object.metadata.?lab|els": "Map of string keys and values",
		"variables.m|any &&":       "a variable, line 15",
	} {
		var got struct {
			Contents struct{ Value string } `json:"contents"`
		}
		if err := e.request("textDocument/hover", e.at(at), &got); err != nil || !strings.Contains(got.Contents.Value, want) {
			t.Errorf("%s: %v\n%s", at, err, got.Contents.Value)
		}
		if strings.HasSuffix(want, "```") && !strings.HasSuffix(got.Contents.Value, want) {
			t.Errorf("%s: %s", at, got.Contents.Value)
		}
	}
	for at, want := range map[string]lsp.CompletionItem{
		"object.spec.|size":  {Label: "size", Detail: "int", Documentation: &lsp.Markup{Kind: "markdown", Value: "how large it is"}},
		"x.name != x.|other": {Label: "other", Detail: "string"},
	} {
		var items []lsp.CompletionItem
		if err := e.request("textDocument/completion", e.at(at), &items); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(items, func(i lsp.CompletionItem) bool { return i.Label == want.Label })
		if want.Kind = 5; i < 0 || !cmp.Equal(items[i], want) {
			t.Errorf("%s: %+v", at, items)
		}
	}
}

// TestDefinition leads to where a name is declared.
func TestDefinition(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	for at, want := range map[string]int{
		"variables.ma|ny &&": 14, "inputs.po|ds.map": 7, "par|ams.limit": 5, "        params.lim|it": 5, "${wh|ere}": 24, "po|d.spec.nodeName": 22,
		"object.meta|data": -1,
	} {
		var got *struct {
			Range lsp.Range `json:"range"`
		}
		if err := e.request("textDocument/definition", e.at(at), &got); err != nil {
			t.Fatal(err)
		}
		if want < 0 && got != nil || want >= 0 && (got == nil || got.Range.Start.Line != want) {
			t.Errorf("%s: %+v", at, got)
		}
	}
}

// TestQuickFixes mend findings, or accept them.
func TestQuickFixes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ replace, with, title, want string }{
		"a field":                 {"p.metadata.name)", "p.metadata.nam)", "replace nam with name", "p.metadata.name)"},
		"a name":                  {"variables.many &&", "variables.mny &&", "replace variables.mny with variables.many", "variables.many &&"},
		"a function":              {"inputs.pods.map(p,", "inputs.pods.mapp(p,", "replace mapp with map", "inputs.pods.map(p,"},
		"a field of the document": {"      forEach: inputs", "      forEch: inputs", "replace forEch with forEach", "      forEach: inputs"},
		"in metadata":             {"p.metadata.name)", "p.name)", "replace name with metadata.name", "p.metadata.name)"},
		"an absent field":         {"variables.many &&", "object.spec.podCIDR.size() > 1 &&", "read it with .?", "object.spec.?podCIDR.size() > 1"},
		"an acceptance":           {"variables.many &&", "object.spec.podCIDR.size() > 1 &&", "accept absent-field here", "      # edict:accept absent-field REASON\n      when: object.spec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, strings.Replace(policy, tc.replace, tc.with, 1))
			var actions []struct {
				Title string `json:"title"`
				Edit  struct {
					Changes map[string][]struct {
						Range   lsp.Range `json:"range"`
						NewText string    `json:"newText"`
					} `json:"changes"`
				} `json:"edit"`
			}
			params := map[string]any{"textDocument": map[string]any{"uri": e.uri}, "range": lsp.Range{}, "context": map[string]any{"diagnostics": e.diagnostics}}
			if err := e.request("textDocument/codeAction", params, &actions); err != nil {
				t.Fatal(err)
			}
			for _, a := range actions {
				if a.Title != tc.title {
					continue
				}
				lines := strings.Split(e.text, "\n")
				edit := a.Edit.Changes[e.uri][0]
				start, end := edit.Range.Start, edit.Range.End
				lines[start.Line] = lines[start.Line][:start.Character] + edit.NewText + lines[end.Line][end.Character:]
				if got := strings.Join(lines, "\n"); !strings.Contains(got, tc.want) {
					t.Errorf("%+v\n%s", edit, got)
				}
				return
			}
			t.Errorf("offered: %+v for %+v", actions, e.diagnostics)
		})
	}
}

// TestErrors: a request that cannot be answered is answered with why, and the server
// goes on.
func TestErrors(t *testing.T) {
	t.Parallel()
	e := edit(t, "a: b: c\n")
	if len(e.diagnostics) != 1 {
		t.Errorf("%+v", e.diagnostics)
	}
	var wrong *rpc.Error
	if err := e.request("textDocument/references", nil, nil); !errors.As(err, &wrong) || wrong.Code != rpc.MethodNotFound {
		t.Error(err)
	}
	if err := e.request("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": "file:///nothing.yaml"}}, nil); err == nil || !strings.Contains(err.Error(), "is not open") {
		t.Error(err)
	}
	if err := e.request("textDocument/hover", "x", nil); !errors.As(err, &wrong) || wrong.Code != rpc.InvalidParams {
		t.Error(err)
	}
	var items []lsp.CompletionItem
	if err := e.request("textDocument/completion", e.at("a: b: c|"), &items); err != nil {
		t.Error(err)
	}
}
