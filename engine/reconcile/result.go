package reconcile

import (
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// Result is what became of a key.
type Result struct {
	// ID is that of the reconciliation; zero when nothing was decided.
	ID record.ID
	// Decision is nil when nothing was decided: the key is at its pace, or what it
	// wrote last is not in the read model yet.
	Decision *eval.Decision
	Outcomes []apply.Outcome
	// Record is what the decision depended on, and what came of it.
	Record *record.Record
	// Next is when the key is due by the passing of time; zero is never.
	Next time.Time
	// Err says that the key must be tried again with back-off: a write or a call
	// failed.
	Err error
	// Final is what failed and would fail again until something that was read
	// changes, which wakes the key: an expression, a limit, the guard.
	Final error
	// Quiet says that Err is nothing to report: an object had moved on.
	Quiet bool
	// Reported are failures that need no other try of the key: what is debounced
	// tries again by itself.
	Reported []error
	// Paced is true if the key has used up its burst of writes, and writes at its pace.
	Paced bool
	// PutOff and Retried are the rules that were debounced, and that failed and
	// will be tried again by themselves.
	PutOff, Retried []int
}

// finished reports whether there is nothing left to do about an object.
func (r *Result) finished() bool {
	return r.Err == nil && r.Final == nil && len(r.Outcomes) == 0 && len(r.Decision.Problems) == 0 && r.Next.IsZero()
}
