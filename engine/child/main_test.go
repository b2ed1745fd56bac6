package child

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

const testMemory = 192 << 20

// TestMain is the child, too: this binary itself, asked to serve.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		memory, err := strconv.ParseInt(os.Args[2], 10, 64)
		if err == nil {
			err = Serve(os.Stdin, os.Stdout, memory, Programs)
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

// newChild makes an evaluator whose child is this binary.
func newChild(t testing.TB, o Options) *Child {
	t.Helper()
	o.Command = []string{os.Args[0], "serve", strconv.FormatInt(o.Memory, 10)}
	c := New(o)
	t.Cleanup(c.Close)
	return c
}
