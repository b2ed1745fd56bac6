// Package brake bounds what policies do that were told to do something mad.
//
// Between a decision and its writes, [Policy.Admit] says which of the effects
// are written now. What is kept back is decided and shown, and decided again
// later:
//
//   - A policy that writes or removes more than its limit within a window is
//     paused until somebody resumes it or its text changes (limit.go, window.go).
//   - What a person holds is not written (hold.go).
//   - Nothing is removed while what the policy reads may be out of date.
//
// Before a decision [Policy.Wait] holds its key to its pace, whatever wakes it: 30
// evaluations that write at once, and then one a second (pace.go). That bounds each
// loop and fight, and the last state is written at most a second late.
//
// The package knows no cluster. Whoever drives it keeps pauses and holds, and
// reports them.
package brake
