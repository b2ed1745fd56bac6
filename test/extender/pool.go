package extender

import (
	"cmp"
	"math"
	"math/bits"
)

// Pool is a place for volumes: a volume group, or a thin pool in it.
type Pool struct {
	Name     string `json:"name"`
	ThinPool string `json:"thinPoolName,omitempty"`
}

func comparePools(a, b Pool) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ThinPool, b.ThinPool))
}

// Capacity is the space of a pool in bytes: as a whole, and what volumes use
// of it. Reservations are not part of Used.
type Capacity struct {
	Size int64 `json:"size"`
	Used int64 `json:"used"`
}

// PoolCapacity is a pool and its capacity, as the files and the endpoints
// write it.
type PoolCapacity struct {
	Pool
	Capacity
}

// The lowest and the highest score of a pool with enough space.
const (
	minScore = 1
	maxScore = 10
)

// score judges a pool of a size in bytes by what is left of it after a
// placement: the logarithm of the whole percents, rounded.
func score(left, size int64) int64 {
	percent := percentOf(left, size)
	if percent <= 0 {
		return minScore
	}
	return min(max(int64(math.Round(math.Log2(float64(percent)))), minScore), maxScore)
}

// percentOf returns part/whole in whole percents, rounded down, for 0 <= part <=
// whole. It computes in 128 bits: a size in bytes times 100 may overflow.
func percentOf(part, whole int64) uint64 {
	if part <= 0 || whole <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(part), 100)
	percent, _ := bits.Div64(high, low, uint64(whole))
	return percent
}
