package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// script is a checked script.
type script struct {
	scores             map[pool]int64
	otherwise          int64
	failure, narrowing string
}

// set reads one field of the document.
func (s *script) set(key string, v any) (err error) {
	switch key {
	case "scores":
		s.scores, err = scriptedScores(v)
	case "default":
		s.otherwise, err = whole(v)
	case "error":
		s.failure, err = text(v)
	case "narrowError":
		s.narrowing, err = text(v)
	default:
		err = errors.New("unknown field; there are scores, default, error and narrowError")
	}
	return err
}

func scriptedScores(v any) (map[pool]int64, error) {
	document, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("must be an object of scores")
	}
	scores := make(map[pool]int64, len(document))
	for _, key := range slices.Sorted(maps.Keys(document)) {
		place, err := parsePool(key)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		if scores[place], err = whole(document[key]); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
	}
	return scores, nil
}

// parsePool reads "<group>" or "<group>/<thin pool>".
func parsePool(key string) (pool, error) {
	group, thin, isThin := strings.Cut(key, "/")
	if group == "" || isThin && thin == "" || strings.Contains(thin, "/") {
		return pool{}, errors.New("must be <group> or <group>/<thin pool>")
	}
	return pool{Name: group, ThinPool: thin}, nil
}

var errNotWhole = errors.New("must be a whole number")

// whole reads a whole number in any form that decoders of JSON and YAML give.
func whole(v any) (int64, error) {
	switch n := v.(type) {
	case int:
		return int64(n), nil
	case int64:
		return n, nil
	case float64:
		if n == math.Trunc(n) && n >= -1<<63 && n < 1<<63 {
			return int64(n), nil
		}
	case json.Number:
		if i, err := n.Int64(); err == nil {
			return i, nil
		}
	}
	return 0, errNotWhole
}

func text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", errors.New("must be a string")
}
