package child

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/edict-dev/edict/engine/expr"
)

// request is what goes to the child: gob puts the length before each.
type request struct {
	Service string
	Body    []byte
}

// response is what comes back.
type response struct{ Out []byte }

// Serve is what the child does: it limits itself to so many bytes of memory, unless
// they are 0, and then has handlers answer the requests to their services, one after the other,
// until there are no more.
func Serve(r io.Reader, w io.Writer, memory int64, services map[string]expr.Handler) error {
	if memory > 0 {
		if err := limit(memory); err != nil {
			return fmt.Errorf("limiting the memory to %d bytes: %w", memory, err)
		}
	}
	runtime.GOMAXPROCS(1) // one request at a time, and the collector
	in, out := gob.NewDecoder(bufio.NewReader(r)), gob.NewEncoder(w)
	for {
		var asked request
		switch err := in.Decode(&asked); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a request: %w", err)
		}
		handler := services[asked.Service]
		if handler == nil {
			return fmt.Errorf("there is no service %q", asked.Service)
		}
		if err := out.Encode(response{handler(context.Background(), asked.Body)}); err != nil {
			return fmt.Errorf("writing a response: %w", err)
		}
	}
}
