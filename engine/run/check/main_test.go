package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/expr"
)

// TestMain is the process that compiles texts, too. It checks that no test leaves a
// goroutine behind.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		memory, err := strconv.ParseInt(os.Args[2], 10, 64)
		if err == nil {
			err = child.Serve(os.Stdin, os.Stdout, memory, costly())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// costly returns the services of Texts, except that the judgement of some texts costs what
// their values say: as if the compiler had no limits.
func costly() map[string]expr.Handler {
	services := Services()
	judge := services[judgeService]
	services[judgeService] = func(ctx context.Context, body []byte) []byte {
		out, r := judge(ctx, body), request{Policy: &policyCopy{}}
		if json.Unmarshal(body, &r) != nil || bytes.Contains(out, []byte("lacking")) {
			return out
		}
		body = r.Policy.File.Text
		switch {
		case bytes.Contains(body, []byte("takes-time")):
			for n := uint64(1); n != 0; n += 2 { // it never is
			}
		case bytes.Contains(body, []byte("takes-memory")):
			var kept [][]byte
			for len(kept) < 1<<20 {
				kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
			}
		case bytes.Contains(body, []byte("takes-life")):
			os.Exit(3)
		}
		return out
	}
	return services
}

// stopped is a process that is being stopped.
type stopped struct{}

// Do implements expr.Limiter.
func (stopped) Do(context.Context, []byte) ([]byte, error) { return nil, expr.ErrUnavailable }
