package expr

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/edict-dev/edict/engine/value"
)

// Query is a builtin that a selection asks about its candidates. It may have
// side effects, and its answer comes from outside of the evaluation.
type Query struct {
	// Name is how it is called: "extender.filterAndScore".
	Name string
	// With are the fields that a request has once, Candidate those that it has
	// for each candidate.
	With, Candidate []Field
	// Scores says that the answer judges every candidate: a step of a pipeline.
	// Without it the answer confirms the one candidate that is asked about.
	Scores bool
	// Doc says what it gives; Example is a step that calls it, as YAML.
	Doc     string
	Example string
}

// Field is a field of a request.
type Field struct {
	Name     string
	Type     Type
	Optional bool
}

// Request is what a selection asks.
type Request struct {
	// Query is the name of the builtin.
	Query string
	// With holds the fields that the request has once.
	With *value.Map
	// Candidates hold the fields of each candidate, in the order of the selection.
	Candidates Candidates
}

// Response is the answer to a request.
type Response struct {
	// Verdicts are one per candidate of the request, in its order; none for a
	// confirmation.
	Verdicts []Verdict
}

// Verdict is the judgement of a candidate: Dropped, or Kept with the score that it has
// from here on. There are many of them, so one is a single number: 0 is Dropped, and
// otherwise the score with its sign bit inverted.
type Verdict int64

// Dropped says that a candidate leaves the selection.
const Dropped Verdict = 0

// Kept says that a candidate stays, with a score. The lowest 64-bit number counts as the
// one above it.
func Kept(score int64) Verdict { return Verdict(max(score, math.MinInt64+1) ^ math.MinInt64) }

// Keep reports whether the candidate stays.
func (v Verdict) Keep() bool { return v != Dropped }

// Score returns the score of a candidate that stays, and 0 for another.
func (v Verdict) Score() int64 {
	if v == Dropped {
		return 0
	}
	return int64(v) ^ math.MinInt64
}

// Answerer answers requests. It is safe for concurrent use.
type Answerer interface {
	// Answer returns the answer, or why there is none. It is asked once; whoever
	// asks decides about another try.
	Answer(ctx context.Context, request *Request) (*Response, error)
}

// NoAnswers knows no answer, where nothing may be asked.
type NoAnswers struct{}

// Answer implements Answerer.
func (NoAnswers) Answer(context.Context, *Request) (*Response, error) { return nil, ErrNoAnswer }

// Answerers finds the answerer of a query by the part of its name before the
// dot.
type Answerers map[string]Answerer

// Lacking returns the first of some queries that nobody answers; "" for none.
func (a Answerers) Lacking(queries []string) string {
	for _, q := range queries {
		namespace, _, _ := strings.Cut(q, ".")
		if a[namespace] == nil {
			return q
		}
	}
	return ""
}

// Answer implements Answerer.
func (a Answerers) Answer(ctx context.Context, request *Request) (*Response, error) {
	namespace, _, _ := strings.Cut(request.Query, ".")
	if to, ok := a[namespace]; ok {
		return to.Answer(ctx, request)
	}
	return nil, fmt.Errorf("nobody answers %s: %s is not configured", request.Query, namespace)
}

// Exchange is a request with its answer.
type Exchange struct {
	Request  *Request
	Response *Response
	Err      error
}
