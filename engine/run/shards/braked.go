package shards

import (
	"slices"

	"github.com/edict-dev/edict/engine/value"
)

// Braked is what the brakes of a replica do about the objects of a policy that it decides
// about.
type Braked struct {
	// Contested is how many fields somebody else writes, too, Fields some of them.
	Contested int      `json:"contested,omitempty"`
	Fields    []string `json:"fields,omitempty"`
	// Slowed is how many objects are slowed down, Slow why one of them is.
	Slowed int    `json:"slowed,omitempty"`
	Slow   string `json:"slow,omitempty"`
	// Uncertain is for how many objects nothing is removed, because what is read may be out
	// of date.
	Uncertain int `json:"uncertain,omitempty"`
}

// MaxFields is how many contested fields are named.
const MaxFields = 3

// Any reports whether the brakes do anything.
func (b *Braked) Any() bool { return b.Contested > 0 || b.Slowed > 0 || b.Uncertain > 0 }

// Add adds what the brakes of another replica do; nil is nothing.
func (b *Braked) Add(other *Braked) {
	if other == nil {
		return
	}
	b.Contested, b.Slowed, b.Uncertain = b.Contested+other.Contested, b.Slowed+other.Slowed, b.Uncertain+other.Uncertain
	b.Fields = append(slices.Clone(b.Fields), other.Fields...)
	b.Fields = b.Fields[:min(len(b.Fields), MaxFields)]
	if b.Slow == "" {
		b.Slow = other.Slow
	}
}

// cut returns it with texts of at most n bytes.
func (b *Braked) cut(n int) *Braked {
	if b == nil {
		return nil
	}
	out := *b
	out.Slow, out.Fields = value.Cut(b.Slow, n), make([]string, len(b.Fields))
	for i, field := range b.Fields {
		out.Fields[i] = value.Cut(field, n)
	}
	return &out
}
