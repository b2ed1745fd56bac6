package extender

import (
	"errors"
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/expr"
)

// Recorded returns the script whose answers are those of some exchanges; nil for
// none. It is an error when the answers to one question differ: a script has one
// for each candidate.
func Recorded(exchanges []expr.Exchange) (map[string]any, error) {
	if len(exchanges) == 0 {
		return nil, nil
	}
	r := recording{scores: map[string]any{}, dropped: map[string]bool{}, script: map[string]any{}}
	for _, e := range exchanges {
		if err := r.add(e); err != nil {
			return nil, fmt.Errorf("scheduler extender: %w", err)
		}
	}
	if len(r.scores) > 0 {
		r.script["scores"] = r.scores
	}
	return r.script, nil
}

type recording struct {
	scores  map[string]any
	dropped map[string]bool
	script  map[string]any
}

var errDiffer = errors.New("the answers of one evaluation differ from each other, which a script cannot say")

func (r *recording) add(e expr.Exchange) error {
	field := "error"
	if e.Request.Query == NarrowReservation {
		field = "narrowError"
	}
	if text := failure(e.Err); text != "" {
		r.script[field] = text
		return nil
	}
	if r.script[field] != nil {
		return errDiffer
	}
	if e.Request.Query == NarrowReservation || e.Response == nil {
		return nil
	}
	pools, err := poolsOf(nil, e.Request.Candidates)
	if err != nil {
		return err
	}
	for i, p := range pools {
		if err := r.score(p.key(), e.Response.Verdicts[i]); err != nil {
			return err
		}
	}
	return nil
}

// failure returns the text of a failed exchange as a script has it.
func failure(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), (&Error{}).Error())
}

func (r *recording) score(key string, v expr.Verdict) error {
	before, scored := r.scores[key]
	switch {
	case !v.Keep() && scored, v.Keep() && r.dropped[key], v.Keep() && scored && before != v.Score():
		return errDiffer
	case v.Keep():
		r.scores[key] = v.Score()
	default:
		r.dropped[key] = true
	}
	return nil
}

// key names a pool in a script.
func (p pool) key() string {
	if p.ThinPool == "" {
		return p.Name
	}
	return p.Name + "/" + p.ThinPool
}
