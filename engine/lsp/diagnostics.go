package lsp

import (
	"context"
	"encoding/json"
	"regexp"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/format"
	"github.com/edict-dev/edict/engine/lsp/rpc"
)

func (s *Server) didOpen(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		TextDocument struct{ URI, Text string } `json:"textDocument"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	return nil, s.changed(newText(params.TextDocument.URI, params.TextDocument.Text))
}

func (s *Server) didChange(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		TextDocument   documentID              `json:"textDocument"`
		ContentChanges []struct{ Text string } `json:"contentChanges"`
	}
	if err := json.Unmarshal(raw, &params); err != nil || len(params.ContentChanges) == 0 {
		return nil, err
	}
	return nil, s.changed(newText(params.TextDocument.URI, params.ContentChanges[len(params.ContentChanges)-1].Text))
}

func (s *Server) didClose(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		TextDocument documentID `json:"textDocument"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	delete(s.open, params.TextDocument.URI)
	return nil, s.publish(params.TextDocument.URI, nil)
}

// changed takes in a text of the editor, and sends what is wrong with it.
func (s *Server) changed(t *textOf) error {
	s.open[t.uri] = t
	a, err := s.analyse(t)
	if err != nil {
		problem := Diagnostic{Severity: severities[document.Error], Code: string(document.Invalid), Source: "edict", Message: err.Error()}
		return s.publish(t.uri, []Diagnostic{problem})
	}
	return s.publish(t.uri, a.diagnostics())
}

func (s *Server) publish(uri string, list []Diagnostic) error {
	if list == nil {
		list = []Diagnostic{}
	}
	params, err := json.Marshal(map[string]any{"uri": uri, "diagnostics": list})
	if err != nil {
		return err
	}
	return s.conn.Write(&rpc.Message{Method: "textDocument/publishDiagnostics", Params: params})
}

// severities are those of the protocol.
var severities = map[document.Severity]int{document.Error: 1, document.Warning: 2, document.Note: 3}

// diagnostics returns the findings in the document.
func (a *analysis) diagnostics() (out []Diagnostic) {
	for _, p := range a.problems {
		if p.File != a.path {
			continue
		}
		code := check.CodeOf(p)
		message := p.Message
		if p.Hint != "" {
			message += "\n" + p.Hint
		}
		out = append(out, Diagnostic{
			Range: a.word(p.Position), Severity: severities[p.Severity], Code: string(code), CodeDescription: &codeDescription{check.Page(code)},
			Source: "edict", Message: message, Data: p.Hint,
		})
	}
	return out
}

var wordAt = regexp.MustCompile(`^(\.\??)?[A-Za-z_][\w.-]*|^\S`)

// word returns the range of the word at a place.
func (a *analysis) word(p document.Position) Range {
	runes := []rune(a.line(p.Line - 1))
	rest := string(runes[min(max(p.Column-1, 0), len(runes)):])
	return a.until(p, len([]rune(wordAt.FindString(rest))))
}

// formatting formats a document as edict fmt does.
func (s *Server) formatting(_ context.Context, p at) (any, error) {
	t, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out, err := format.Text(t.path, []byte(t.text))
	if err != nil {
		return nil, err
	}
	whole := Range{End: Position{Line: len(t.lines)}}
	return []textEdit{{whole, string(out)}}, nil
}
