// Package snapshot writes the objects of a cluster down as far as policies read
// them: the kinds that they watch, of each object its identity and the fields
// that some policy depends on, and no value of a Secret.
//
// The result is a world as any other: to decide on it gives what deciding on the
// whole cluster gives.
package snapshot
