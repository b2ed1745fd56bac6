// Package probe evaluates an expression as if it stood in a policy: as one more
// variable of it, on manifests, for one object. Nothing is written.
package probe
