// Package eval decides: a plan, a key, a snapshot of the world and the time go
// in, a Decision comes out. It is pure. It calls no client, reads no clock and
// starts no goroutine, and the same input gives the same decision, byte for
// byte.
//
// Evaluate may be given a Memo, in which it keeps what it computed and what
// each result was computed from; the next evaluation of the same key computes
// only what has changed. Plain computes everything from nothing, without
// indexes. The two must agree: that is what Plain is for.
package eval
