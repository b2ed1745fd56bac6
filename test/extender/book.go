package extender

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
)

// book keeps the capacities and the reservations. It is not safe for
// concurrent use.
type book struct {
	capacity     map[Pool]Capacity
	reservations map[string]*reservation
	// held is what is reserved on each pool.
	held map[Pool]total
	// earliest is before any reservation expires; zero when that is not known.
	earliest time.Time
}

func newBook() book {
	return book{reservations: map[string]*reservation{}, held: map[Pool]total{}}
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
	if now.Before(b.earliest) {
		return
	}
	b.earliest = time.Time{}
	for id, r := range b.reservations {
		if !now.Before(r.expires) {
			b.give(id)
		} else {
			b.until(r.expires)
		}
	}
}

// until notes when a reservation expires.
func (b *book) until(at time.Time) {
	if b.earliest.IsZero() || at.Before(b.earliest) {
		b.earliest = at
	}
}

// take makes a reservation.
func (b *book) take(id string, r *reservation) {
	b.reservations[id] = r
	b.until(r.expires)
	for p := range r.pools {
		b.held[p] = b.held[p].plus(r.size)
	}
}

// give gives up what is reserved under an ID.
func (b *book) give(id string) {
	if r := b.reservations[id]; r != nil {
		b.leave(r, func(Pool) bool { return true })
		delete(b.reservations, id)
	}
}

// leave gives up some pools of a reservation.
func (b *book) leave(r *reservation, which func(Pool) bool) {
	maps.DeleteFunc(r.pools, func(p Pool, _ bool) bool {
		if !which(p) {
			return false
		}
		if left := b.held[p].minus(r.size); left == (total{}) {
			delete(b.held, p)
		} else {
			b.held[p] = left
		}
		return true
	})
}

// place scores the pools with enough space and reserves it on all of them.
// What was reserved under the ID before is given up.
func (b *book) place(id string, pools []Pool, size int64, until time.Time) []Scored {
	b.give(id)
	kept := map[Pool]bool{}
	out := []Scored{}
	for _, p := range pools {
		left := max(b.capacity[p].Size-b.capacity[p].Used, 0)
		left = left - min(b.held[p].int64(), left) - size
		if left < 0 || kept[p] {
			continue
		}
		kept[p] = true
		out = append(out, Scored{Pool: p, Score: score(left, b.capacity[p].Size)})
	}
	if len(kept) > 0 {
		b.take(id, &reservation{pools: kept, size: size, expires: until})
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
	b.leave(r, func(other Pool) bool { return other != p })
	r.expires = until
	b.until(until)
	if len(r.pools) == 0 {
		delete(b.reservations, id)
	}
}

// total is a sum of sizes, which may be more than an int64 can be.
type total struct{ high, low uint64 }

func (t total) plus(size int64) total {
	low, carry := bits.Add64(t.low, uint64(size), 0)
	return total{t.high + carry, low}
}

func (t total) minus(size int64) total {
	low, borrow := bits.Sub64(t.low, uint64(size), 0)
	return total{t.high - borrow, low}
}

// int64 returns the sum, or as much as fits.
func (t total) int64() int64 {
	if t.high > 0 || t.low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(t.low)
}
