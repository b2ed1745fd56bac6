// Package reconcile is the loop: a key is looked at in a snapshot of the
// world, decided about, checked by the guard and written.
//
// A Controller does so for one policy; a Group holds the controllers that
// share a world, and tells each change of it to those it concerns. When and
// how often a key is reconciled is for the caller: engine/run has a queue and
// a clock, engine/simulate a sorted list and virtual time. Nothing else
// differs between the two.
package reconcile
