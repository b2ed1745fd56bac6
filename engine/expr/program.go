package expr

import (
	"errors"
	"strings"

	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
)

// Scope gives a program the values of the names it uses.
type Scope = interpreter.Activation

// Failure is an expression that failed at run time.
type Failure struct {
	// At is the expression's place in the policy.
	At document.Position
	// Err is what went wrong; it names fields and types, never values of
	// objects beyond keys.
	Err error
}

// Error returns file:line:col and the cause.
func (f *Failure) Error() string {
	if at := f.At.String(); at != "" {
		return at + ": " + f.Err.Error()
	}
	return f.Err.Error()
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Message returns the text of an error without the place in the policy: for
// readers who do not have the policy's text before them.
func Message(err error) string {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return err.Error()
	}
	return strings.Replace(err.Error(), f.Error(), f.Err.Error(), 1)
}
