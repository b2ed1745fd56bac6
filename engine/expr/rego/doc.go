// Package rego is the second language of policies: decision tables written in
// Rego, compiled and run by Open Policy Agent.
//
// A Library is what a policy's modules compile to, a Query asks for one rule
// of it. Both are plain data: compiling and evaluating are the work of an
// Evaluator, which may be this process (Local) or another one (package child),
// because what a module takes while it runs cannot be bounded from within. A
// request to it and its response are bytes, the same for both.
//
// A module can only compute from its input: the functions that it may call are
// listed in this package, and none of them reads a clock, a network, a file or
// a random number. An evaluation is bounded by the sizes of its input and
// result, by a count of steps, so that the same input gives the same answer on
// a slow machine, and, as the last resort, by time and by the memory of the
// process that it runs in.
package rego
