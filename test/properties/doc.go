// Package properties checks what must hold in every world: the evaluator with
// a memory and indexes agrees with the plain one, a key that was not woken
// would have decided the same, and neither the order of events nor the way of
// getting there changes the outcome.
package properties
