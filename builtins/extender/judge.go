package extender

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
)

// spare is how many entries an answer may have beyond those about the pools that
// were asked about: an extender may know of others.
const spare = 1000

// decode reads the scores that an answer gives to some pools. The first of
// several entries about one pool is used. An answer without a list is an error; null is an
// empty list, as Go encodes a nil slice. Entries are read one at a time, so that an answer
// takes no more memory than its text.
func decode(body []byte, asked []pool) (map[pool]int64, error) {
	// A field that stands there twice must not mix its two values, which
	// decoding into the same list would do: only the last one is decoded.
	var answer struct {
		Pools json.RawMessage `json:"lvgs"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, undecodable(err)
	}
	if len(answer.Pools) == 0 {
		return nil, undecodable(errors.New("it has no lvgs"))
	}
	scores := make(map[pool]int64, len(asked))
	wanted := make(map[pool]bool, len(asked))
	for _, p := range asked {
		wanted[p] = true
	}
	return scores, eachEntry(answer.Pools, 4*len(asked)+spare, func(e entry) {
		if _, known := scores[e.pool]; wanted[e.pool] && !known {
			scores[e.pool] = e.Score
		}
	})
}

// entry is a pool and its score.
type entry struct {
	pool
	Score int64 `json:"score"`
}

// eachEntry visits the entries of a list, of which there may be so many.
func eachEntry(list json.RawMessage, most int, visit func(entry)) error {
	if list[0] != '[' {
		var none []entry
		if err := json.Unmarshal(list, &none); err != nil {
			return undecodable(err)
		}
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(list))
	if _, err := decoder.Token(); err != nil {
		return undecodable(err)
	}
	for n := 0; decoder.More(); n++ {
		if n >= most {
			return undecodable(fmt.Errorf("it has more than %d entries", most))
		}
		var e entry
		if err := decoder.Decode(&e); err != nil {
			return undecodable(err)
		}
		visit(e)
	}
	return nil
}

// judge returns a verdict for each pool: one with a score above 0 stays, with
// this score. Others do not, and neither do those without a score.
func judge(pools []pool, scores map[pool]int64) []expr.Verdict {
	verdicts := make([]expr.Verdict, len(pools))
	for i, p := range pools {
		if score := scores[p]; score > 0 {
			verdicts[i] = expr.Kept(score)
		}
	}
	return verdicts
}
