package extender

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// pool is a place that may be asked about: a volume group, or a thin pool in
// it. A group and its thin pools are different places.
type pool struct {
	Name     string `json:"name"`
	ThinPool string `json:"thinPoolName,omitempty"`
}

// reservation is what a request for scores asks to reserve in every pool: so many
// bytes, for so long.
type reservation struct {
	ID   string
	TTL  time.Duration
	Size int64
}

// narrowRequest is what confirms one pool.
type narrowRequest struct {
	ID   string
	TTL  time.Duration
	Pool pool
}

// body returns the request as encoding/json writes it.
func (r *narrowRequest) body() []byte {
	out := appendReservation(make([]byte, 0, 128+len(r.ID)+len(r.Pool.Name)+len(r.Pool.ThinPool)), r.ID, r.TTL)
	out = r.Pool.appendTo(append(out, `,"lvg":`...))
	return append(out, '}')
}

// appendReservation writes how a request begins.
func appendReservation(out []byte, id string, ttl time.Duration) []byte {
	out = value.AppendText(append(out, `{"reservationID":`...), id)
	return value.AppendText(append(out, `,"reservationTTL":`...), ttl.String())
}

func newReservation(with *value.Map) (*reservation, error) {
	id, ttl, err := reservationOf(with)
	if err != nil {
		return nil, err
	}
	size, ok := value.Int(with.Lookup(fieldSize))
	if !ok {
		return nil, wrongType(fieldSize, expr.Int)
	}
	return &reservation{ID: id, TTL: ttl, Size: size}, nil
}

func newNarrowRequest(request *expr.Request) (*narrowRequest, error) {
	id, ttl, err := reservationOf(request.With)
	if err != nil {
		return nil, err
	}
	switch n := request.Candidates.Len(); n {
	case 0:
		return nil, errNoCandidates
	case 1:
	default:
		return nil, fail(ClassRequest, fmt.Sprintf("a confirmation is about one candidate, not %d", n))
	}
	p, err := poolOf(request.Candidates, 0)
	if err != nil {
		return nil, err
	}
	return &narrowRequest{ID: id, TTL: ttl, Pool: p}, nil
}

func reservationOf(with *value.Map) (id string, ttl time.Duration, err error) {
	id, ok := value.Str(with.Lookup(fieldReservation))
	if !ok {
		return "", 0, wrongType(fieldReservation, expr.String)
	}
	ttl, ok = value.Duration(with.Lookup(fieldTTL))
	if !ok {
		return "", 0, wrongType(fieldTTL, expr.Duration)
	}
	return id, ttl, nil
}

var errNoCandidates = fail(ClassRequest, "no candidates to ask about")

// poolsOf adds the pools that candidates name, in their order, to others. In case of
// an error it returns those up to the candidate that names none.
func poolsOf(pools []pool, candidates expr.Candidates) ([]pool, error) {
	n := candidates.Len()
	if n == 0 {
		return pools, errNoCandidates
	}
	pools = slices.Grow(pools, n)
	for i := range n {
		p, err := poolOf(candidates, i)
		if err != nil {
			return pools, err
		}
		pools = append(pools, p)
	}
	return pools, nil
}

// poolOf returns the pool that a candidate names.
func poolOf(candidates expr.Candidates, i int) (pool, error) {
	row := candidates.Row(i)
	name, _ := value.Str(candidates.Of.Field(row, fieldName))
	if name == "" {
		return pool{}, fail(ClassRequest, "a candidate has no name")
	}
	thin := value.Unwrap(candidates.Of.Field(row, fieldThinPool))
	thinPool, ok := value.Str(thin)
	if !ok && !value.IsNull(thin) {
		return pool{}, wrongType(fieldThinPool, expr.String)
	}
	return pool{Name: name, ThinPool: thinPool}, nil
}

func wrongType(field string, want expr.Type) error {
	return fail(ClassRequest, fmt.Sprintf("%s must be of type %s", field, want))
}
