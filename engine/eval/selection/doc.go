// Package selection chooses one of many candidates: what a policy's select
// action says. It is pure but for the questions it asks an Answerer.
//
// There are two ways to the same outcome. The plain one takes every candidate
// through every step. The staged one takes the steps apart by what they depend
// on: what is a property of a candidate is computed once for a list of
// candidates and kept, for all keys that select from the same list; what is
// none is computed once a selection; membership becomes set operations. A
// candidate for which that gives no answer is asked plainly, so errors are the
// same. A Cache given means staged; the two are tested equal.
package selection
