package shards

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/edict-dev/edict/engine/plan"
)

// Sums are what is in force of more policies than can be announced one by one: a sum of 32
// bits of each group of policies. How many groups there are depends on the room, and not on
// the policies, so that they always fit. Who compares them knows of a group only that
// something is otherwise. Policies in Shadow mode, which only the one that leads runs, are
// not in them.
type Sums []byte

const sumSize = 4

// SumsOf returns the sums of revisions by the ID of their policy. Where nothing of a policy
// is in force nor about to be, it does not count.
func SumsOf(now map[string]string, groups int) Sums {
	out := make(Sums, groups*sumSize)
	for id, revisions := range now {
		if revisions == "" || plan.ParseID(id).Shadow {
			continue
		}
		sum := out.of(id)
		binary.BigEndian.PutUint32(sum, binary.BigEndian.Uint32(sum)+hash(id+"="+revisions))
	}
	return out
}

// Groups returns how many there are.
func (s Sums) Groups() int { return len(s) / sumSize }

// Same reports whether others, of as many groups, have the same of the group of a policy.
func (s Sums) Same(id string, other Sums) bool {
	return s.Groups() > 0 && s.Groups() == other.Groups() && bytes.Equal(s.of(id), other.of(id))
}

// of returns the sum of the group of a policy.
func (s Sums) of(id string) []byte {
	at := int(hash(id)) % s.Groups() * sumSize
	return s[at : at+sumSize]
}

func hash(text string) uint32 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint32(sum[:])
}
