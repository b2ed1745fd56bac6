package extender

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// breaker stops requests while the extender is unavailable.
type breaker struct {
	circuit *gobreaker.CircuitBreaker[struct{}]
	// since is when the circuit opened last from closed, as Unix nanoseconds. A
	// failed probe does not change it: the outage is the same.
	since atomic.Int64
	// last is the last failure by which the extender is taken for unavailable.
	last atomic.Pointer[Error]
}

func newBreaker(c Breaker, changed func(from, to string)) *breaker {
	b := &breaker{}
	b.circuit = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:  1,
		Timeout:      c.OpenFor,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= c.Failures },
		IsSuccessful: func(err error) bool { return !unavailable(err) },
		IsExcluded:   func(err error) bool { return isClass(err, ClassCanceled) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if from == gobreaker.StateClosed {
				b.since.Store(time.Now().UnixNano())
			}
			if changed != nil {
				changed(from.String(), to.String())
			}
		},
	})
	return b
}

// unavailable reports whether a failure means that the extender is down, and not
// just that it refuses this request.
func unavailable(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		return err != nil
	}
	return failure.Class != ClassStatus || failure.Status >= http.StatusInternalServerError
}

func isClass(err error, class Class) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.Class == class
}

// state returns the circuit's state: closed, half-open or open.
func (b *breaker) state() string { return b.circuit.State().String() }

// do exchanges unless the circuit is open, or half-open with a probe under way.
func (b *breaker) do(exchange func() error) error {
	_, err := b.circuit.Execute(func() (struct{}, error) {
		err := exchange()
		b.note(err)
		return struct{}{}, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return b.refused()
	}
	return err
}

// note keeps a failure that counts towards opening the circuit.
func (b *breaker) note(err error) {
	if failure, ok := errors.AsType[*Error](err); ok && unavailable(err) && failure.Class != ClassCanceled {
		b.last.Store(failure)
	}
}

// refused says since when nothing is asked, and why.
func (b *breaker) refused() *Error {
	text := "circuit open since " + time.Unix(0, b.since.Load()).UTC().Format(time.RFC3339)
	if last := b.last.Load(); last != nil {
		text += ", after: " + last.text
	}
	return fail(ClassCircuitOpen, text)
}
