// Package compile turns a policy document into a plan, or into a list of
// positioned problems: all of it or nothing.
//
// It types every expression against the schemas of the kinds, orders the
// variables by what they use, traces every read to the field of the object it
// comes from, and derives the sources, indexes and write sets of the policy.
package compile
