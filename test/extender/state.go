package extender

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// State is what a Server knows at a moment.
type State struct {
	// Capacities are sorted by pool.
	Capacities []PoolCapacity `json:"capacities"`
	// Reservations are those that have not expired, sorted by ID.
	Reservations []Reservation `json:"reservations"`
	// Requests counts the requests of each call, also those that were refused.
	Requests map[string]int `json:"requests"`
	// Recorded are the last 1000 of them, the oldest first.
	Recorded []Recorded `json:"recorded"`
	// Fault is how the next requests fail.
	Fault Fault `json:"fault"`
}

// Reservation is space that is held on each of some pools.
type Reservation struct {
	ID string `json:"id"`
	// Pools are sorted.
	Pools []Pool `json:"pools"`
	// Size is in bytes, on each pool.
	Size    int64     `json:"size"`
	Expires time.Time `json:"expires"`
}

// Recorded is a request that arrived.
type Recorded struct {
	At            time.Time `json:"at"`
	Endpoint      string    `json:"endpoint"`
	ReservationID string    `json:"reservationID"`
	// Pools is how many pools it asked about.
	Pools int `json:"lvgs"`
}

// maxRecorded is how many requests are kept.
const maxRecorded = 1000

// journal keeps the last requests and counts all of them.
type journal struct {
	requests map[string]int
	recorded []Recorded
}

func newJournal() journal {
	return journal{requests: map[string]int{FilterAndScore: 0, NarrowReservation: 0}}
}

func (j *journal) add(r Recorded) {
	j.requests[r.Endpoint]++
	if len(j.recorded) == maxRecorded {
		j.recorded = slices.Delete(j.recorded, 0, 1)
	}
	j.recorded = append(j.recorded, r)
}

// State returns what the server knows now.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.expire(s.now())
	return State{
		Capacities: s.book.listCapacities(), Reservations: s.book.listReservations(), Fault: s.fault,
		Requests: maps.Clone(s.journal.requests), Recorded: append([]Recorded{}, s.journal.recorded...),
	}
}

// SetFault makes the server fail from now on. An unknown mode or a negative
// number is an error.
func (s *Server) SetFault(fault Fault) error {
	if err := fault.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
	return nil
}

// SetCapacity replaces the capacities of all pools. Reservations stay.
func (s *Server) SetCapacity(capacity map[Pool]Capacity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.capacity = maps.Clone(capacity)
}

func (b *book) listCapacities() []PoolCapacity {
	out := []PoolCapacity{}
	for _, p := range slices.SortedFunc(maps.Keys(b.capacity), comparePools) {
		out = append(out, PoolCapacity{p, b.capacity[p]})
	}
	return out
}

func (b *book) listReservations() []Reservation {
	out := []Reservation{}
	for id, r := range b.reservations {
		out = append(out, Reservation{
			ID: id, Pools: slices.SortedFunc(maps.Keys(r.pools), comparePools), Size: r.size, Expires: r.expires,
		})
	}
	slices.SortFunc(out, func(a, b Reservation) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
