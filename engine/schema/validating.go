package schema

import (
	"sync"

	"github.com/edict-dev/edict/engine/schema/validation"
)

// Validator returns what validates the objects of a kind that a CRD defines. It is nil for
// built-in kinds, and for a schema that no API server accepts in a CRD, such as that of a
// kind of an aggregated API server. It is made once, when it is asked for.
func (s *Structure) Validator() *validation.Validator {
	if s == nil || s.validator == nil {
		return nil
	}
	return s.validator()
}

// validatorOf makes the validator of the schema of a CRD, in JSON, when it is asked for.
func validatorOf(text func() ([]byte, error)) func() *validation.Validator {
	return sync.OnceValue(func() *validation.Validator {
		given, err := text()
		if err != nil {
			return nil
		}
		v, err := validation.New(given)
		if err != nil {
			return nil
		}
		return v
	})
}
