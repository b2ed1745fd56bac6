package extender

import (
	"maps"
	"math"
	"slices"
	"time"
)

// book keeps the capacities and the reservations. It is not safe for
// concurrent use.
type book struct {
	capacity     map[Pool]Capacity
	reservations map[string]*reservation
}

// reservation holds size bytes on each of its pools until it expires.
type reservation struct {
	pools   map[Pool]bool
	size    int64
	expires time.Time
}

// Scored is a pool with its score.
type Scored struct {
	Pool
	Score int64 `json:"score"`
}

// expire drops the reservations whose time is over.
func (b *book) expire(now time.Time) {
	maps.DeleteFunc(b.reservations, func(_ string, r *reservation) bool { return !now.Before(r.expires) })
}

// held returns the bytes that are reserved on each pool, but for those under one
// ID. A sum that does not fit is as large as can be.
func (b *book) held(id string) map[Pool]int64 {
	out := map[Pool]int64{}
	for other, r := range b.reservations {
		if other == id {
			continue
		}
		for p := range r.pools {
			out[p] = min(out[p], math.MaxInt64-r.size) + r.size
		}
	}
	return out
}

// place scores the pools with enough space and reserves it on all of them.
// What was reserved under the ID before is given up.
func (b *book) place(id string, pools []Pool, size int64, until time.Time) []Scored {
	kept, held := map[Pool]bool{}, b.held(id)
	out := []Scored{}
	for _, p := range pools {
		left := max(b.capacity[p].Size-b.capacity[p].Used, 0)
		left = left - min(held[p], left) - size
		if left < 0 || kept[p] {
			continue
		}
		kept[p] = true
		out = append(out, Scored{Pool: p, Score: score(left, b.capacity[p].Size)})
	}
	delete(b.reservations, id)
	if len(kept) > 0 {
		b.reservations[id] = &reservation{pools: kept, size: size, expires: until}
	}
	slices.SortFunc(out, compareScored)
	return out
}

// compareScored puts the highest score first.
func compareScored(a, b Scored) int {
	if a.Score != b.Score {
		return int(b.Score - a.Score)
	}
	return comparePools(a.Pool, b.Pool)
}

// narrow gives up what is reserved under an ID on other pools than p, and sets
// when the rest expires. Without a reservation it does nothing.
func (b *book) narrow(id string, p Pool, until time.Time) {
	r := b.reservations[id]
	if r == nil {
		return
	}
	maps.DeleteFunc(r.pools, func(other Pool, _ bool) bool { return other != p })
	r.expires = until
	if len(r.pools) == 0 {
		delete(b.reservations, id)
	}
}
