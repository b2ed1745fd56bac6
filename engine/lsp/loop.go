package lsp

import (
	"context"
	"errors"
	"io"

	"github.com/edict-dev/edict/engine/lsp/rpc"
)

// Run answers requests until the editor leaves. An editor that leaves without a
// shutdown is an error.
func (s *Server) Run(ctx context.Context) error {
	messages, stop := make(chan message, waiting), make(chan struct{})
	defer close(stop)
	go s.read(messages, stop)
	for {
		m, ok := s.next(ctx, messages)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok: // nothing else to do
			if err := s.refreshOne(); err != nil {
				return err
			}
		case errors.Is(m.err, io.EOF) || m.err == nil && m.Method == exit:
			if s.stopped {
				return nil
			}
			return errors.New("the editor left without a shutdown")
		case m.err != nil:
			return m.err
		default:
			if err := s.answer(ctx, m.Message); err != nil {
				return err
			}
		}
	}
}

// exit is the last message of an editor, waiting how many are read ahead.
const (
	exit    = "exit"
	waiting = 64
)

// message is what was read from the editor.
type message struct {
	*rpc.Message
	err error
}

// read passes on what the editor sends.
func (s *Server) read(messages chan<- message, stop <-chan struct{}) {
	for {
		m, err := s.conn.Read()
		select {
		case messages <- message{m, err}:
		case <-stop:
			return
		}
		if err != nil || m.Method == exit {
			return
		}
	}
}

// next returns the next message; false when there is none now, and documents are to be
// checked meanwhile. So those that come while a document is checked come before the next
// one, and of several changes only the last is checked.
func (s *Server) next(ctx context.Context, messages <-chan message) (m message, ok bool) {
	if len(s.dirty) > 0 {
		select {
		case m = <-messages:
			return m, true
		default:
			return m, false
		}
	}
	select {
	case m = <-messages:
		return m, true
	case <-ctx.Done():
		return m, false
	}
}
