package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/lsp/rpc"
)

func (s *Server) didOpen(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		TextDocument struct{ URI, Text string } `json:"textDocument"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	s.changed(newText(params.TextDocument.URI, params.TextDocument.Text))
	return nil, nil
}

func (s *Server) didChange(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		TextDocument   documentID              `json:"textDocument"`
		ContentChanges []struct{ Text string } `json:"contentChanges"`
	}
	if err := json.Unmarshal(raw, &params); err != nil || len(params.ContentChanges) == 0 {
		return nil, err
	}
	s.changed(newText(params.TextDocument.URI, params.ContentChanges[len(params.ContentChanges)-1].Text))
	return nil, nil
}

func (s *Server) didClose(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		TextDocument documentID `json:"textDocument"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	if t := s.open[params.TextDocument.URI]; t != nil {
		delete(s.open, t.uri)
		s.stale(t)
	}
	delete(s.shown, params.TextDocument.URI)
	return nil, s.publish(params.TextDocument.URI, nil)
}

// watched is told that files have changed that the editor has not open.
func (s *Server) watched(context.Context, json.RawMessage) (any, error) {
	for _, t := range s.open {
		s.stale(t)
	}
	return nil, nil
}

// changed takes in a text of the editor.
func (s *Server) changed(t *textOf) {
	s.open[t.uri] = t
	delete(s.shown, t.uri)
	s.stale(t)
}

// refresh sends what is wrong with a document, unless that was sent already.
func (s *Server) refresh(t *textOf) error {
	list := s.diagnose(t)
	now, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if s.shown[t.uri] == string(now) {
		return nil
	}
	s.shown[t.uri] = string(now)
	return s.publish(t.uri, list)
}

// diagnose returns what is wrong with a document; also that this cannot be told.
func (s *Server) diagnose(t *textOf) (out []Diagnostic) {
	wrong := func(message string) []Diagnostic {
		return []Diagnostic{{Severity: severities[document.Error], Code: string(document.Invalid), Source: "edict", Message: message}}
	}
	defer func() {
		if fault := recover(); fault != nil {
			out = wrong(fmt.Sprintf("a fault of edict: %v", fault))
		}
	}()
	a, err := s.load(t)
	if err != nil {
		return wrong(err.Error())
	}
	return a.diagnostics()
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

// diagnostics returns the findings in the document, and those in others that are about
// it.
func (a *analysis) diagnostics() (out []Diagnostic) {
	for _, p := range a.problems {
		code := check.CodeOf(p)
		d := Diagnostic{Severity: severities[p.Severity], Code: string(code), CodeDescription: &codeDescription{check.Page(code)}, Source: "edict", Message: p.Message}
		if p.Hint != "" {
			d.Message += "\n" + p.Hint
			d.Data = &Data{Hint: p.Hint}
		}
		at := a.bundle.Place(p.Position)
		for _, other := range a.related[p] {
			other.At = a.bundle.Place(other.At)
			if at.File != a.text.path && other.At.File == a.text.path { // the finding is in another document
				at, other = other.At, check.Place{At: at, Message: "found here"}
				d.Data = &Data{Elsewhere: true}
			}
			d.Related = append(d.Related, Related{a.location(other.At), other.Message})
		}
		d.Range = a.text.word(at)
		out = append(out, d)
	}
	return out
}

// location is a place in a file that may be another one.
func (a *analysis) location(p document.Position) Location {
	t := a.text
	if p.File != a.text.path {
		t = a.others(p.File)
	}
	return Location{t.uri, t.word(p)}
}

var wordAt = regexp.MustCompile(`^(\.\??)?[A-Za-z_][\w.-]*|^\S`)

// word returns the range of the word at a place.
func (t *textOf) word(p document.Position) Range {
	runes := []rune(t.line(p.Line - 1))
	rest := string(runes[min(max(p.Column-1, 0), len(runes)):])
	return t.until(p, len([]rune(wordAt.FindString(rest))))
}
