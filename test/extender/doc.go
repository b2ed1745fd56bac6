// Package extender is a scheduler extender for tests and demonstrations: a
// server that knows the capacity of storage pools, scores them, and holds
// space for a while. On request it fails in the ways that a real one can.
//
// It serves two calls, POST /v1/lvg/filter-and-score and POST
// /v1/lvg/narrow-reservation, and three endpoints to control it: PUT
// /control/fault, PUT /control/capacity and GET /control/state.
package extender
