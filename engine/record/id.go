package record

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
)

// ID identifies one reconciliation: it is that of its record, its log lines and
// its trace. The zero ID is that of none.
type ID struct {
	prefix string
	number uint64
}

// String returns the ID as documents and log lines show it.
func (id ID) String() string { return id.prefix + strconv.FormatUint(id.number, 10) }

// IsZero reports whether the ID is that of no reconciliation.
func (id ID) IsZero() bool { return id.number == 0 }

// prefixLength is how many characters distinguish the IDs of two processes: 40 bits.
const prefixLength = 8

// NewPrefix returns a random prefix for the IDs of a process.
func NewPrefix() string { return strings.ToLower(rand.Text()[:prefixLength]) + "-" }

// NewID returns an ID that no other reconciliation has; the zero ID for nil.
func (l *Log) NewID() ID {
	if l == nil {
		return ID{}
	}
	return ID{prefix: l.Prefix, number: l.count.Add(1)}
}

type idKey struct{}

// WithID returns a context that carries the ID of the reconciliation under way.
func WithID(ctx context.Context, id ID) context.Context { return context.WithValue(ctx, idKey{}, id) }

// IDOf returns the ID that a context carries, or the zero ID.
func IDOf(ctx context.Context) ID {
	id, _ := ctx.Value(idKey{}).(ID)
	return id
}
