package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxRequestBytes is the size of the largest request that is read.
const maxRequestBytes = 10 << 20

// scoreRequest asks to score pools, narrowRequest to keep one of them.
type scoreRequest struct {
	header
	Size  int64  `json:"size"`
	Pools []Pool `json:"lvgs"`
}

type narrowRequest struct {
	header
	Pool Pool `json:"lvg"`
}

// header is what both have.
type header struct {
	ReservationID string `json:"reservationID"`
	TTL           string `json:"reservationTTL"`
}

func (h header) check() (time.Duration, error) {
	if h.ReservationID == "" {
		return 0, errors.New("reservationID is empty")
	}
	ttl, err := time.ParseDuration(h.TTL)
	if err != nil || ttl <= 0 {
		return 0, fmt.Errorf("reservationTTL %q is not a positive duration", h.TTL)
	}
	return ttl, nil
}

// check returns the time to live of the reservation, or what is wrong.
func (r *scoreRequest) check() (time.Duration, error) {
	if r.Size <= 0 {
		return 0, errors.New("size is not positive")
	}
	if len(r.Pools) == 0 {
		return 0, errors.New("lvgs is empty")
	}
	for i, p := range r.Pools {
		if p.Name == "" {
			return 0, fmt.Errorf("lvgs[%d].name is empty", i)
		}
	}
	return r.header.check()
}

func (r *narrowRequest) check() (time.Duration, error) {
	if r.Pool.Name == "" {
		return 0, errors.New("lvg.name is empty")
	}
	return r.header.check()
}

// read decodes the body of a request, and answers it when that fails.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		refuse(w, err)
	}
	return err == nil
}

// refuse answers 413 to a request that is too large, 400 to any other one.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		status = http.StatusRequestEntityTooLarge
	}
	reply(w, status, map[string]string{"error": err.Error()})
}

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone
}
