package main

import "fmt"

// The exit codes.
const (
	exitFindings = 1
	exitChanges  = 2
	exitUsage    = 64
)

// findings is a run that worked and found something wrong: exit code 1. What
// was found may have been printed already; the text is then empty.
type findings struct{ text string }

func (f findings) Error() string { return f.text }

// changes is a run that worked and found that something changes: exit code 2.
type changes struct{}

func (changes) Error() string { return "" }

func found(format string, args ...any) error { return findings{fmt.Sprintf(format, args...)} }

// asFinding makes an error one of what was asked about, not of how.
func asFinding(err error) error {
	if err == nil {
		return nil
	}
	return found("%v", err)
}
