// Package extender asks a scheduler extender: a server that knows how much
// space storage pools have, judges candidates by it and holds space for a
// while. Selections of policies ask it through two queries; the answers come
// over HTTP, or from a script in simulations.
package extender

import "github.com/edict-dev/edict/engine/expr"

// The names of the queries.
const (
	FilterAndScore    = "extender.filterAndScore"
	NarrowReservation = "extender.narrowReservation"
)

// The names of the fields that a request has.
const (
	fieldReservation = "reservationID"
	fieldTTL         = "ttl"
	fieldSize        = "size"
	fieldName        = "name"
	fieldThinPool    = "thinPoolName"
)

// Queries declares extender.filterAndScore and extender.narrowReservation.
// Sizes are in bytes.
func Queries() []expr.Query {
	reservation := []expr.Field{
		{Name: fieldReservation, Type: expr.String},
		{Name: fieldTTL, Type: expr.Duration},
	}
	candidate := []expr.Field{
		{Name: fieldName, Type: expr.String},
		{Name: fieldThinPool, Type: expr.String, Optional: true},
	}
	return []expr.Query{
		{
			Name: FilterAndScore, Scores: true, Candidate: candidate,
			With: append(reservation[:2:2], expr.Field{Name: fieldSize, Type: expr.Int}),
			Doc: "asks the scheduler extender which candidates have room for size bytes, and reserves it on all of these " +
				"for the time ttl; keeps those with a score above 0",
			Example: `call: extender.filterAndScore
with:
  reservationID: key.name
  ttl: duration("2s")
  size: object.spec.size
candidate:
  name: candidate.group
  thinPoolName: candidate.thinPool`,
		},
		{
			Name: NarrowReservation, With: reservation, Candidate: candidate,
			Doc: "confirms the chosen candidate to the scheduler extender: the reservation is kept there for the time ttl, " +
				"and given up on the others",
			Example: `call: extender.narrowReservation
with:
  reservationID: key.name
  ttl: duration("1m")
candidate:
  name: candidate.group
  thinPoolName: candidate.thinPool`,
		},
	}
}
