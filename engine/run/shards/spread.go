package shards

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/edict-dev/edict/engine/eval"
)

// Spread divides keys among so many shards. The shard of a key must never change: two
// releases run at the same time during an upgrade.
type Spread int

// OfKey returns the shard of a key of a policy that is spread.
func (s Spread) OfKey(policy string, key eval.Key) int {
	return s.of(policy + "\x00" + key.Namespace + "\x00" + key.Name)
}

// OfPolicy returns the shard of all keys of a policy that is not spread.
func (s Spread) OfPolicy(policy string) int { return s.of(policy) }

func (s Spread) of(text string) int {
	sum := sha256.Sum256([]byte(text))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(s))
}

// Quota returns how many of n shards the replica at a place in the order of the live ones
// holds: the shares of all replicas add up to n and differ by one at most.
func Quota(n, place, live int) int {
	quota := n / live
	if place < n%live {
		quota++
	}
	return quota
}
