package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Answers are answers of builtins that were recorded. A request has one when the same
// builtin was asked the same about each of its candidates, at once; of several the
// last one read counts. It is safe for concurrent use once it is filled.
type Answers struct {
	requests map[string]*answered
	// next answers what was not recorded.
	next expr.Answerer
}

// answered is what is known of a request, whichever its candidates.
type answered struct {
	verdicts map[string]expr.Verdict
	// confirmed are candidates that were confirmed: there is no verdict.
	confirmed map[string]bool
}

// NewAnswers returns Answers without any, which ask next; nil knows none.
func NewAnswers(next expr.Answerer) *Answers {
	return &Answers{requests: map[string]*answered{}, next: cmp.Or[expr.Answerer](next, expr.NoAnswers{})}
}

// Calls is what Read reads of a document: a Document has them, and so has the result
// of a simulation.
type Calls struct {
	Calls []CallDocument `json:"calls"`
}

// Read adds the calls of documents of JSON, one after the other.
func (a *Answers) Read(r io.Reader) error {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	for n := 1; ; n++ {
		var doc Calls
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
		for i := range doc.Calls {
			if err := a.add(&doc.Calls[i]); err != nil {
				return fmt.Errorf("document %d, call %d of %s: %w", n, i+1, doc.Calls[i].Builtin, err)
			}
		}
	}
}

// add adds a call. One that failed has no answer.
func (a *Answers) add(c *CallDocument) error {
	response, _ := c.Response.(map[string]any)
	if c.Error != "" || response == nil {
		return nil
	}
	with, _ := c.Request.(map[string]any)
	candidates, isList := with["candidates"].([]any)
	scores, areScores := response["scores"].([]any)
	if !isList || !areScores || len(scores) > 0 && len(scores) != len(candidates) {
		return errors.New("it has not the form of a record: request.candidates and response.scores")
	}
	name, err := requestName(c.Builtin, with)
	if err != nil {
		return err
	}
	known := a.requests[name]
	if known == nil {
		known = &answered{verdicts: map[string]expr.Verdict{}, confirmed: map[string]bool{}}
		a.requests[name] = known
	}
	return known.add(candidates, scores)
}

func (k *answered) add(candidates, scores []any) error {
	for i, candidate := range candidates {
		name, err := json.Marshal(candidate)
		if err != nil {
			return err
		}
		if len(scores) == 0 {
			k.confirmed[string(name)] = true
			continue
		}
		v := expr.Dropped
		if number, ok := scores[i].(json.Number); ok {
			score, err := number.Int64()
			if err != nil {
				return err
			}
			v = expr.Kept(score)
		} else if scores[i] != nil {
			return fmt.Errorf("the score %v is no whole number", scores[i])
		}
		k.verdicts[string(name)] = v
	}
	return nil
}

// requestName is the text of a request without its candidates.
func requestName(query string, with map[string]any) (string, error) {
	rest := make(map[string]any, len(with))
	for name, field := range with {
		if name != "candidates" {
			rest[name] = field
		}
	}
	text, err := json.Marshal(rest)
	return query + " " + string(text), err
}

// Answer implements expr.Answerer.
func (a *Answers) Answer(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	with, _ := value.Plain(request.With).(map[string]any)
	name, err := requestName(request.Query, with)
	if err != nil {
		return nil, err
	}
	if known := a.requests[name]; known != nil {
		if out := known.answer(request.Candidates); out != nil {
			return out, nil
		}
	}
	return a.next.Answer(ctx, request)
}

// answer returns what is known of all candidates; nil when one of them is not known.
func (k *answered) answer(candidates expr.Candidates) *expr.Response {
	out, confirmed := &expr.Response{}, 0
	for _, candidate := range candidates.All() {
		name, err := json.Marshal(value.Plain(candidate))
		if err != nil {
			return nil
		}
		v, ok := k.verdicts[string(name)]
		switch {
		case ok:
			out.Verdicts = append(out.Verdicts, v)
		case k.confirmed[string(name)]:
			confirmed++
		default:
			return nil
		}
	}
	if confirmed > 0 && len(out.Verdicts) > 0 {
		return nil // cannot be: a builtin gives verdicts, or it confirms
	}
	return out
}
