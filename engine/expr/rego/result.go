package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Result says what a query may give. Without an Enum and a Schema it is
// anything.
type Result struct {
	// Query names the query in messages.
	Query string
	// Enum are the only texts that it may give.
	Enum []string
	// Schema is what it must fit; nil is anything.
	Schema *schema.Validator
}

// Take returns what a query gave as a value of the type that is promised, as the fields of
// an object are read: numbers are doubles, date-times are timestamps. It is an error when it
// is not allowed.
func (r Result) Take(v value.Value) (value.Value, error) {
	if len(r.Enum) > 0 {
		if s, ok := value.Str(v); !ok || !slices.Contains(r.Enum, s) {
			return nil, fmt.Errorf("%s gave %s, which is none of %s", r.Query, brief(v), strings.Join(r.Enum, ", "))
		}
	}
	if r.Schema == nil {
		return v, nil
	}
	plain := value.Plain(v)
	if err := r.Schema.Validate(r.Query, plain); err != nil {
		return nil, fmt.Errorf("the result does not fit its schema: %w", err)
	}
	return value.Freeze(plain, r.Schema.Type, value.KeepAll), nil
}

// brief writes a scalar, and what a list or an object is.
func brief(v value.Value) string {
	const longest = 64
	switch v := v.(type) {
	case *value.Map:
		return "an object"
	case *value.List:
		return "a list"
	default:
		if s, ok := value.Str(v); ok {
			return fmt.Sprintf("%q", value.Cut(s, longest))
		}
		text, err := value.Text(v)
		if err != nil {
			return "null"
		}
		return text
	}
}
