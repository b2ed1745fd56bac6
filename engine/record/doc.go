// Package record keeps what decisions depended on and what came of them.
//
// A Record holds pointers to immutable values: the snapshot of the read model,
// the decision, the objects that woke the key. Making one costs next to nothing.
// Everything that people want to know besides (the value of each condition, what
// became of each candidate) is computed when it is asked for: Replay evaluates
// the decision again, offline, and comes to the identical result; Render does so
// with all details.
package record
