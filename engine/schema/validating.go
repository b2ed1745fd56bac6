package schema

import (
	"sync"

	"github.com/edict-dev/edict/engine/schema/validation"
)

// Validator returns what validates the objects of a kind that a CRD defines. It is nil
// where that is not known, as of published types, which may be those of another server, and
// for a schema that no API server accepts. It is made once, when it is asked for.
func (s *Structure) Validator() *validation.Validator {
	if s == nil || s.validator == nil {
		return nil
	}
	return s.validator()
}

// validatorOf makes the validator of the schema of a CRD, in JSON, when it is asked for.
func validatorOf(text []byte) func() *validation.Validator {
	return sync.OnceValue(func() *validation.Validator {
		v, err := validation.New(text)
		if err != nil {
			return nil
		}
		return v
	})
}
