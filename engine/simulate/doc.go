// Package simulate runs policies on manifests until nothing is left to do, in
// memory and on a virtual clock.
//
// The read model, the controllers and the writes are those of the real
// controller; only the API server behind them is a small one in memory, and
// only the queue is a sorted list. The same objects and the same timeline give
// the same result, always.
package simulate
