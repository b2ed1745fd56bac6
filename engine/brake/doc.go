// Package brake bounds what policies do that were told to do something mad.
//
// Between a decision and its writes, [Policy.Admit] says which of the effects
// are written now. What is kept back is decided and shown, and decided again
// later:
//
//   - A policy that writes or removes more than its limit within a window is
//     paused until somebody resumes it or its text changes (limit.go, window.go).
//   - Rules of two policies that write a field in turn are paused; a field that
//     somebody else writes as well is written once in ten seconds (field.go).
//   - A key that is woken by nothing but its policies' own writes, and writes
//     each time, is slowed down (lineage.go, slow.go); one that is due again and
//     again within a second is evaluated once a second (timed.go).
//   - What a person holds is not written (hold.go).
//   - Nothing is removed while what the policy reads may be out of date.
//
// The package knows no cluster. Whoever drives it keeps pauses and holds, and
// reports them.
package brake
