package child

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/expr"
)

const testMemory = 192 << 20

// testServices are what the child answers: a request as it is, one that takes all time, and
// one that takes all memory.
var testServices = map[string]expr.Handler{
	"echo": func(_ context.Context, request []byte) []byte { return request },
	"loop": func(context.Context, []byte) []byte {
		for n := uint64(1); n != 0; n += 2 { // it never is
		}
		return nil
	},
	"allocate": func(context.Context, []byte) []byte {
		var kept [][]byte
		for len(kept) < 1<<20 {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
		return kept[0]
	},
}

// TestMain is the child, too: this binary itself, asked to serve.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		memory, err := strconv.ParseInt(os.Args[2], 10, 64)
		if err == nil {
			err = Serve(os.Stdin, os.Stdout, memory, testServices)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == "parent":
		asParent()
	default:
		goleak.VerifyTestMain(m)
	}
}

// newChild makes a Child whose process is this binary.
func newChild(t testing.TB, o Options) *Child {
	t.Helper()
	o.Process, o.Command = "the process of the test", []string{os.Args[0], "serve", strconv.FormatInt(o.Memory, 10)}
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// echo returns a service that answers with the request.
func echo(c *Child) expr.Limiter { return c.Service("echo", time.Second) }

func wantEcho(t *testing.T, in expr.Limiter, text string) {
	t.Helper()
	if out, err := in.Do(t.Context(), []byte(text)); err != nil || string(out) != text {
		t.Errorf("%s, %v", out, err)
	}
}
