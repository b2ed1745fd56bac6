package child

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/edict-dev/edict/engine/expr/rego"
)

// request is what goes to the child: gob puts the length before each.
type request struct {
	// Reset lets the child drop all modules that it has.
	Reset bool
	ID    string
	// Modules are those of the ID; none when the child has them.
	Modules []module
	// Query is rego.Request's; HasQuery tells an empty one from none.
	Query    []byte
	HasQuery bool
}

type module struct{ Name, Text string }

// response is what comes back.
type response struct{ Out []byte }

// Handler answers the requests in the child. It may keep the result of the modules of an ID.
type Handler interface {
	Do(ctx context.Context, r *rego.Request) []byte
}

// Programs returns a Handler that evaluates Rego.
func Programs() Handler { return &rego.Programs{} }

// Serve is what the child does: it limits itself to so many bytes of memory, unless
// they are 0, and then has a handler answer requests until there are no more.
func Serve(r io.Reader, w io.Writer, memory int64, newHandler func() Handler) error {
	if memory > 0 {
		if err := limit(memory); err != nil {
			return fmt.Errorf("limiting the memory to %d bytes: %w", memory, err)
		}
	}
	runtime.GOMAXPROCS(1) // one request at a time, and the collector
	in, out := gob.NewDecoder(bufio.NewReader(r)), gob.NewEncoder(w)
	handler := newHandler()
	for {
		var asked request
		switch err := in.Decode(&asked); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a request: %w", err)
		}
		if asked.Reset {
			handler = newHandler()
		}
		if err := out.Encode(response{handler.Do(context.Background(), asked.rego())}); err != nil {
			return fmt.Errorf("writing a response: %w", err)
		}
	}
}

func (r *request) rego() *rego.Request {
	out := &rego.Request{ID: r.ID}
	for _, m := range r.Modules {
		out.Modules = append(out.Modules, rego.Module{Name: m.Name, Text: m.Text})
	}
	if r.HasQuery {
		out.Query = append([]byte{}, r.Query...)
	}
	return out
}
