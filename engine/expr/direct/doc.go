// Package direct evaluates expressions without an interpreter, where that is
// possible: an expression of field accesses, comparisons, conditionals and calls
// becomes a tree of Go values that read frozen objects themselves. It takes a
// tenth of the interpreter's time, which for one field access is nearly all spent
// on the way to it.
//
// A tree either returns what the interpreter would return, or gives up: it knows no
// errors. Whoever asks then asks the interpreter, so errors are worded in one
// place, and what has no form here costs nothing but speed. A property test holds
// the two equal on expressions and objects made by chance.
package direct
