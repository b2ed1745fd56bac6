// Package budget limits how much generated tests try.
package budget

import "os"

// Long reports whether tests run in full: the environment variable EDICT_TEST_LONG is
// set, as `make test-long` does.
func Long() bool { return os.Getenv("EDICT_TEST_LONG") != "" }

// Of returns how many cases a generated test tries: long if tests run in full, otherwise
// short.
func Of(short, long int) int {
	if Long() {
		return long
	}
	return short
}
