package check

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/expr/rego"
)

// TestMain is the process that compiles texts, too. It checks that no test leaves a
// goroutine behind.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		memory, err := strconv.ParseInt(os.Args[2], 10, 64)
		if err == nil {
			err = child.Serve(os.Stdin, os.Stdout, memory, func() child.Handler { return &costly{} })
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// costly is Texts, except that some texts cost what their values say: as if the compiler
// had no limits.
type costly struct{ Texts }

// Do implements child.Handler.
func (c *costly) Do(ctx context.Context, r *rego.Request) []byte {
	switch {
	case bytes.Contains(r.Query, []byte("takes-time")):
		for n := uint64(1); n != 0; n += 2 { // it never is
		}
	case bytes.Contains(r.Query, []byte("takes-memory")):
		var kept [][]byte
		for len(kept) < 1<<20 {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
	case bytes.Contains(r.Query, []byte("takes-life")):
		os.Exit(3)
	}
	return c.Texts.Do(ctx, r)
}
