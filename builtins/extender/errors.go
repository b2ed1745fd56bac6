package extender

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Class says what kind of failure an Error is. It is also the value of the
// label result of edict_extender_requests_total.
type Class string

// The classes of failures.
const (
	// ClassRequest: the request cannot be asked at all; nothing was sent.
	ClassRequest Class = "request"
	// ClassScript: the script of a simulation says that there is no answer.
	ClassScript Class = "script"
	// ClassTransport: the connection could not be made, or broke.
	ClassTransport Class = "transport"
	// ClassTimeout: there was no answer in time.
	ClassTimeout Class = "timeout"
	// ClassTLS: one side does not trust the other one.
	ClassTLS Class = "tls"
	// ClassStatus: the answer's status is not 200.
	ClassStatus Class = "status"
	// ClassDecode: the answer's body is not what was agreed on.
	ClassDecode Class = "decode"
	// ClassTooLarge: the answer's body is larger than the limit.
	ClassTooLarge Class = "too_large"
	// ClassCircuitOpen: too many requests failed; nothing was sent.
	ClassCircuitOpen Class = "circuit_open"
	// ClassCanceled: the caller gave up.
	ClassCanceled Class = "canceled"
)

// Error says for a person why there is no answer.
type Error struct {
	// Class is the kind of failure.
	Class Class
	// Status is the HTTP status of ClassStatus, 0 in others.
	Status int

	text  string
	cause error
}

// Error implements error. The text holds nothing of an answer's body beyond
// what decoding it says.
func (e *Error) Error() string { return "scheduler extender: " + e.text }

// Unwrap returns what caused the failure; nil when there is nothing to add.
func (e *Error) Unwrap() error { return e.cause }

func fail(class Class, text string) *Error { return &Error{Class: class, text: text} }

func badStatus(status int) *Error {
	return &Error{Class: ClassStatus, Status: status, text: fmt.Sprintf("unexpected status %d", status)}
}

func undecodable(err error) *Error {
	return &Error{Class: ClassDecode, text: "undecodable response: " + err.Error(), cause: err}
}

// broken explains why an exchange came to no end. ctx is the caller's, with
// the time limit on top.
func broken(caller, ctx context.Context, limit time.Duration, err error) *Error {
	switch {
	case caller.Err() != nil:
		return gaveUp(caller)
	case ctx.Err() != nil:
		return &Error{Class: ClassTimeout, text: fmt.Sprintf("no answer within %v", limit), cause: ctx.Err()}
	}
	text, cause := reason(err)
	return &Error{Class: classOf(cause), text: "request failed: " + text, cause: cause}
}

// gaveUp is the failure of a request whose caller no longer waits.
func gaveUp(caller context.Context) *Error {
	if errors.Is(caller.Err(), context.Canceled) {
		return &Error{Class: ClassCanceled, text: "the request was canceled", cause: caller.Err()}
	}
	return &Error{Class: ClassTimeout, text: "no answer before the caller's deadline", cause: caller.Err()}
}

// reason leaves out of an error what the reader knows or what differs from one
// time to the next: the URL, and the port on this side.
func reason(err error) (string, error) {
	if about, ok := errors.AsType[*url.Error](err); ok {
		err = about.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Source != nil && op.Addr != nil {
		return fmt.Sprintf("%s %s %s: %v", op.Op, op.Net, op.Addr, op.Err), err
	}
	return err.Error(), err
}

func classOf(err error) Class {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case isTLS(err):
		return ClassTLS
	case ok && timeout.Timeout():
		return ClassTimeout
	default:
		return ClassTransport
	}
}

// isTLS reports whether a handshake failed, on this side or on the other one.
func isTLS(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "remote error" || op.Op == "local error") {
		return true // an alert
	}
	return is[*certificateError](err) || is[*tls.CertificateVerificationError](err) || is[tls.RecordHeaderError](err) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
