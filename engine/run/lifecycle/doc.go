// Package lifecycle holds the state of every policy of a controller, from the
// text that was read to the revision that is in force.
//
// A policy has one [Phase]. It changes by an [Event] only, by the table in
// transitions.go; an event that the table does not have is reported as an
// [IllegalTransition] and changes nothing. Two parties send events: the reader of
// the texts (check, assign, stop), and the controller of the policy, which reports how
// far it has come with the revision that it was given.
//
//	            Rejected                    Failed
//	  ┌────────────────────▶ Refused ◀──────────────────┐
//	  │                         │                        │
//	Testing ──────────────▶ Loading ──▶ Waiting ──▶ Running
//	         Assigned           │  Blocked   Activated   │
//	                            └──────────▶ Stopping ◀──┘
//	                               Removed      │ Ended
//	                                            ▼
//	Disabled                                 Stopped
//
// A revision that comes into force in steps is RollingOut (Begun) from Loading or
// Waiting on. When its last step is over it is Assigned once more, to run alone.
//
// The package holds state only: it does not compile, watch or write.
package lifecycle
