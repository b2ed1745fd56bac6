package extender

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
)

// Scripted answers without a server, for simulations and tests of policies.
// The script is a document of these fields, all of them optional:
//
//	scores:       whole numbers by "<group>" or "<group>/<thin pool>"
//	default:      the score of any other candidate; without it that has none
//	error:        filterAndScore fails with this text
//	narrowError:  narrowReservation fails with this text
//
// A candidate with a thin pool never has the score of its group. An empty text
// is no failure. A field that is unknown or of another type is an error that
// names it.
func Scripted(answers map[string]any) (expr.Answerer, error) {
	s := &script{}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		if err := s.set(key, answers[key]); err != nil {
			return nil, fmt.Errorf("scheduler extender: %s: %w", key, err)
		}
	}
	return s, nil
}

// Answer implements expr.Answerer.
func (s *script) Answer(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	if ctx.Err() != nil {
		return nil, gaveUp(ctx)
	}
	switch request.Query {
	case FilterAndScore:
		return s.score(request)
	case NarrowReservation:
		return s.narrow(request)
	}
	return nil, unknown(request.Query)
}

func (s *script) score(request *expr.Request) (*expr.Response, error) {
	if _, err := newReservation(request.With); err != nil {
		return nil, err
	}
	pools, err := poolsOf(nil, request.Candidates)
	if err != nil {
		return nil, err
	}
	if s.failure != "" {
		return nil, fail(ClassScript, s.failure)
	}
	scores := make(map[pool]int64, len(pools))
	for _, place := range pools {
		scores[place] = s.scoreOf(place)
	}
	return &expr.Response{Verdicts: judge(pools, scores)}, nil
}

func (s *script) scoreOf(place pool) int64 {
	if score, ok := s.scores[place]; ok {
		return score
	}
	return s.otherwise
}

func (s *script) narrow(request *expr.Request) (*expr.Response, error) {
	if _, err := newNarrowRequest(request); err != nil {
		return nil, err
	}
	if s.narrowing != "" {
		return nil, fail(ClassScript, s.narrowing)
	}
	return &expr.Response{}, nil
}
