// Package document holds what every later stage needs to speak about a text
// that a person wrote: YAML nodes that remember where they stand, positions
// down to the inside of an expression, and the problems found on the way.
//
// It owns no meaning: which fields exist is said by engine/api/v1alpha1, what
// they must contain by engine/compile.
package document
