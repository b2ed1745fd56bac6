package extender

import (
	"net/http"
	"sync"
	"time"
)

// The endpoints of the calls, as State names them.
const (
	FilterAndScore    = "filter-and-score"
	NarrowReservation = "narrow-reservation"
)

// Config says what a Server begins with.
type Config struct {
	// Capacity is the space of each pool.
	Capacity map[Pool]Capacity
	// Now returns the time by which reservations expire; time.Now when nil.
	Now func() time.Time
}

// Server is the scheduler extender. It is safe for concurrent use.
type Server struct {
	mux *http.ServeMux
	now func() time.Time

	mu      sync.Mutex
	book    book
	fault   Fault
	journal journal
}

// New makes a server without reservations.
func New(config Config) *Server {
	s := &Server{
		mux: http.NewServeMux(), now: config.Now,
		book: newBook(), fault: Fault{Mode: None}, journal: newJournal(),
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.SetCapacity(config.Capacity)
	s.mux.HandleFunc("POST /v1/lvg/"+FilterAndScore, s.filterAndScore)
	s.mux.HandleFunc("POST /v1/lvg/"+NarrowReservation, s.narrowReservation)
	s.mux.HandleFunc("PUT /control/fault", s.putFault)
	s.mux.HandleFunc("PUT /control/capacity", s.putCapacity)
	s.mux.HandleFunc("GET /control/state", s.getState)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) filterAndScore(w http.ResponseWriter, r *http.Request) {
	var asked scoreRequest
	readable := read(w, r, &asked)
	s.arrived(FilterAndScore, asked.ReservationID, len(asked.Pools))
	if !readable || s.nextFault(FilterAndScore).apply(w, r, asked.Pools) {
		return
	}
	ttl, err := asked.check()
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"lvgs": s.place(&asked, ttl)})
}

func (s *Server) narrowReservation(w http.ResponseWriter, r *http.Request) {
	var asked narrowRequest
	readable := read(w, r, &asked)
	s.arrived(NarrowReservation, asked.ReservationID, 1)
	if !readable || s.nextFault(NarrowReservation).apply(w, r, []Pool{asked.Pool}) {
		return
	}
	ttl, err := asked.check()
	if err != nil {
		refuse(w, err)
		return
	}
	s.narrow(&asked, ttl)
	reply(w, http.StatusOK, struct{}{})
}

// arrived records a request.
func (s *Server) arrived(endpoint, id string, pools int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal.add(Recorded{At: s.now(), Endpoint: endpoint, ReservationID: id, Pools: pools})
}

// nextFault returns the fault that a request meets, and counts it.
func (s *Server) nextFault(endpoint string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	fault := s.fault
	if !fault.concerns(endpoint) {
		return Fault{Mode: None}
	}
	fault.nth = s.journal.requests[endpoint]
	if s.fault.Times == 1 {
		s.fault = Fault{Mode: None}
	} else if s.fault.Times > 1 {
		s.fault.Times--
	}
	return fault
}

func (s *Server) place(asked *scoreRequest, ttl time.Duration) []Scored {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.book.expire(now)
	return s.book.place(asked.ReservationID, asked.Pools, asked.Size, now.Add(ttl))
}

func (s *Server) narrow(asked *narrowRequest, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.book.expire(now)
	s.book.narrow(asked.ReservationID, asked.Pool, now.Add(ttl))
}
