package extender

import (
	"encoding/json"

	"github.com/edict-dev/edict/engine/expr"
)

// decode reads the scores of an answer. The first of several entries about one
// pool is used; an answer without entries has no scores.
func decode(body []byte) (map[pool]int64, error) {
	// A field that stands there twice must not mix its two values, which
	// decoding into the same list would do: only the last one is decoded.
	var answer struct {
		Pools json.RawMessage `json:"lvgs"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, undecodable(err)
	}
	if answer.Pools == nil {
		return nil, nil
	}
	var entries []struct {
		pool
		Score int64 `json:"score"`
	}
	if err := json.Unmarshal(answer.Pools, &entries); err != nil {
		return nil, undecodable(err)
	}
	scores := make(map[pool]int64, len(entries))
	for _, entry := range entries {
		if _, known := scores[entry.pool]; !known {
			scores[entry.pool] = entry.Score
		}
	}
	return scores, nil
}

// judge gives a verdict for each pool: one with a score above 0 stays, with
// this score. Others do not, and neither do those without a score.
func judge(pools []pool, scores map[pool]int64) []expr.Verdict {
	verdicts := make([]expr.Verdict, len(pools))
	for i, p := range pools {
		if score := scores[p]; score > 0 {
			verdicts[i] = expr.Verdict{Keep: true, Score: score}
		}
	}
	return verdicts
}
