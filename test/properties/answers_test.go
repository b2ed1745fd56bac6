package properties

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// hashed is a fake answerer for unit tests: what it answers follows from the
// request alone, and looks like chance.
type hashed struct{}

var errLuck = errors.New("out of luck")

func dice(sides uint32, parts ...any) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, parts...)
	return h.Sum32() % sides
}

// Answer implements expr.Answerer.
func (hashed) Answer(_ context.Context, request *expr.Request) (*expr.Response, error) {
	sides := uint32(8)
	if strings.HasSuffix(request.Query, "narrowReservation") {
		sides = 3
	}
	if dice(sides, request.Query, value.Plain(request.With)) == 0 {
		return nil, errLuck
	}
	out := &expr.Response{}
	for _, c := range request.Candidates.All() {
		verdict := expr.Dropped
		if score := int64(dice(12, value.Plain(c), value.StringAt(request.With, "reservationID"))) - 2; score > 0 {
			verdict = expr.Kept(score)
		}
		out.Verdicts = append(out.Verdicts, verdict)
	}
	return out, nil
}
