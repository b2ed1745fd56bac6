// Package value holds the values that policies read and produce: immutable
// JSON, laid out so that an expression reads it without converting, copying or
// allocating.
//
// Scalars are CEL's own (types.String, types.Int, ...). Objects and lists are
// this package's Map and List. They are built once, when an object enters the
// read model, and shared by every evaluation after that; nothing can change
// them. Objects with the same field names share one list of names.
//
// The package knows JSON and CEL's value interfaces, nothing else.
package value
