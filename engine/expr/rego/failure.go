package rego

import (
	"regexp"
	"strings"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// quoted is a value inside a message of OPA.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

// masked returns the message of a run-time error without the values in it. What
// a function says about a value that it cannot read may repeat the value, so of
// that only the function's name is kept.
func masked(e *topdown.Error) string {
	switch e.Code {
	case topdown.BuiltinErr:
		name, _, _ := strings.Cut(e.Message, ":")
		return name + " cannot work with the value that it is given"
	case topdown.ConflictErr:
		message, _, _ := strings.Cut(e.Message, "\n") // a line follows for each value
		return strings.TrimSuffix(quoted.ReplaceAllString(message, "..."), ":")
	case topdown.TypeErr:
		return quoted.ReplaceAllString(e.Message, "...")
	default:
		return e.Message
	}
}
