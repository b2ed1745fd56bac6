// Package byhand has the storage controllers written by hand in Go, as they are
// usually written: typed objects from an indexed cache, a reconcile function, an HTTP
// client for the scheduler extender, and merge patches of copies before and after.
// It is what Edict is measured beside, and decides the same as the shipped policies.
package byhand
