// Package rego is the second language of policies: decision tables written in
// Rego, compiled and run by Open Policy Agent's evaluator.
//
// A Library is what a policy's modules compile to, a Query asks for one rule
// of it. Both are immutable. A module can only compute from its input: the
// functions it may call are listed in this package, and none of them reads a
// clock, a network, a file or a random number.
//
// An evaluation is bounded by a count of steps, so that the same input gives
// the same answer on a slow machine; by the size of what it builds; and, as
// the last resort, by time. Evaluators of Rego cannot be interrupted inside of
// a function, so the functions are wrapped: they look at the size of their
// arguments before they work.
package rego
