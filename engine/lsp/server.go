package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/edict-dev/edict/engine/lsp/rpc"
	"github.com/edict-dev/edict/engine/source"
)

// Options are what an editor may ask for when it starts the server.
type Options struct {
	// Schemas are folders of CRDs, besides those beside the policies.
	Schemas []string `json:"schemas"`
}

// Server answers the requests of one editor, one after the other.
type Server struct {
	conn    *rpc.Conn
	options Options
	open    map[string]*textOf
	// dirty are the documents whose findings are to be sent, the first first; shown what
	// was sent of them.
	dirty []string
	shown map[string]string
	// caches are kept for the folders of the open documents.
	caches  map[string]*source.Cache
	version string
	stopped bool
}

// New returns a server that speaks over two streams. The version is shown to the
// editor.
func New(r io.Reader, w io.Writer, version string, o Options) *Server {
	return &Server{conn: rpc.New(r, w), options: o, open: map[string]*textOf{}, shown: map[string]string{}, caches: map[string]*source.Cache{}, version: version}
}

// handler answers a request with a result.
type handler func(s *Server, ctx context.Context, params json.RawMessage) (any, error)

var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"initialize": (*Server).initialize, "initialized": ignore, "shutdown": (*Server).shutdown, "$/setTrace": ignore, "$/cancelRequest": ignore,
		"workspace/didChangeConfiguration": (*Server).configure,
		"textDocument/didOpen":             (*Server).didOpen, "textDocument/didChange": (*Server).didChange, "textDocument/didClose": (*Server).didClose, "textDocument/didSave": (*Server).watched,
		"workspace/didChangeWatchedFiles": (*Server).watched,
		"textDocument/completion":         request((*Server).completion), "textDocument/hover": request((*Server).hover),
		"textDocument/definition": request((*Server).definition),
		"textDocument/codeAction": request((*Server).codeActions),
	}
}

func ignore(*Server, context.Context, json.RawMessage) (any, error) { return nil, nil } //nolint:revive // the form of a method expression

// request decodes the params of a request.
func request[P any](do func(s *Server, ctx context.Context, params P) (any, error)) handler {
	return func(s *Server, ctx context.Context, raw json.RawMessage) (any, error) {
		var params P
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, &rpc.Error{Code: rpc.InvalidParams, Message: err.Error()}
		}
		return do(s, ctx, params)
	}
}

// answer answers a message. A panic is answered as an error: the editor goes on.
func (s *Server) answer(ctx context.Context, m *rpc.Message) error {
	if m.Method == "" {
		return nil // an answer to something that was not asked
	}
	result, err := s.handle(ctx, m)
	if len(m.ID) == 0 {
		return nil
	}
	response := &rpc.Message{ID: m.ID}
	if err != nil {
		response.Error = asError(err)
		return s.conn.Write(response)
	}
	if response.Result, err = json.Marshal(result); err != nil {
		return err
	}
	return s.conn.Write(response)
}

func asError(err error) *rpc.Error {
	if e, ok := errors.AsType[*rpc.Error](err); ok {
		return e
	}
	return &rpc.Error{Code: rpc.RequestFailed, Message: err.Error()}
}

func (s *Server) handle(ctx context.Context, m *rpc.Message) (result any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = &rpc.Error{Code: rpc.InternalError, Message: fmt.Sprintf("a fault of edict in %s: %v", m.Method, fault)}
		}
	}()
	do := handlers[m.Method]
	if do == nil {
		return nil, &rpc.Error{Code: rpc.MethodNotFound, Message: "edict does not know the method " + m.Method}
	}
	return do(s, ctx, m.Params)
}

func (s *Server) initialize(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		Options *Options `json:"initializationOptions"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, &rpc.Error{Code: rpc.InvalidParams, Message: err.Error()}
	}
	if params.Options != nil {
		s.options = *params.Options
	}
	return map[string]any{
		"serverInfo": map[string]any{"name": "edict", "version": s.version},
		"capabilities": map[string]any{
			"textDocumentSync":   map[string]any{"openClose": true, "change": 1},
			"completionProvider": map[string]any{"triggerCharacters": []string{".", "?"}},
			"codeActionProvider": map[string]any{"codeActionKinds": []string{"quickfix"}},
			"hoverProvider":      true,
			"definitionProvider": true,
		},
	}, nil
}

func (s *Server) shutdown(context.Context, json.RawMessage) (any, error) {
	s.stopped = true
	return nil, nil
}

// configure takes other options, as {"settings": {"edict": {...}}}.
func (s *Server) configure(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		Settings struct {
			Edict *Options `json:"edict"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(raw, &params); err == nil && params.Settings.Edict != nil {
		s.options = *params.Settings.Edict
		clear(s.caches)
	}
	return nil, nil
}

// document returns a document that is open.
func (s *Server) document(uri string) (*textOf, error) {
	if t := s.open[uri]; t != nil {
		return t, nil
	}
	return nil, &rpc.Error{Code: rpc.InvalidParams, Message: "the document " + strings.TrimPrefix(uri, "file://") + " is not open"}
}

// analysis returns what is known of an open document.
func (s *Server) analysis(uri string) (*analysis, error) {
	t, err := s.document(uri)
	if err != nil {
		return nil, err
	}
	return s.analyse(t)
}
