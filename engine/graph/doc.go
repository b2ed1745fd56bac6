// Package graph says what policies read and write, which rule wakes which policy, and
// in which circles writes may go round. All of it follows from the compiled policies.
package graph
