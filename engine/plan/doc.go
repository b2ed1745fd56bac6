// Package plan is the waist of the engine: a policy after it was compiled.
//
// Everything above (load, compile) produces a Policy; everything below (watch,
// eval, apply) consumes it. A Policy is immutable and shared by all workers.
// Besides the compiled expressions it says what follows from them: which
// sources to watch, which of their fields are read, how joins are answered by
// indexes, and what the policy writes.
package plan
