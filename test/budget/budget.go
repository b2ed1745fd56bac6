// Package budget says how much generated tests try.
package budget

import "os"

// Of returns how many cases a generated test tries: long if the environment
// variable EDICT_TEST_LONG is set, as `make test-long` does, otherwise short.
func Of(short, long int) int {
	if os.Getenv("EDICT_TEST_LONG") != "" {
		return long
	}
	return short
}
