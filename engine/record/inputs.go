package record

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Inputs are what a decision depends on, as they were: a snapshot of the read
// model, and the answers to what the evaluation asked its controller.
type Inputs struct {
	eval.Input
	recalled map[string]value.Value
	intents  map[string]eval.Intent
	sizes    [][3]int
}

// capture makes the evaluation keep what it asks its controller.
func (c *Inputs) capture(in eval.Input) {
	c.recalled, c.intents = map[string]value.Value{}, map[string]eval.Intent{}
	if in.Recall != nil {
		c.Recall = func(name string) value.Value {
			c.recalled[name] = in.Recall(name)
			return c.recalled[name]
		}
	}
	if in.Intents != nil {
		c.Intents = func(key string) eval.Intent {
			c.intents[key] = in.Intents(key)
			return c.intents[key]
		}
	}
	if in.Remembered != nil {
		c.Remembered = func(name string) (own, all, named int) {
			own, all, named = in.Remembered(name)
			c.sizes = append(c.sizes, [3]int{own, all, named})
			return own, all, named
		}
	}
}

// Recalled returns what the evaluation asked for of what the key remembers, by
// name; nil is what it did not remember.
func (c *Inputs) Recalled() map[string]value.Value { return c.recalled }

// release lets go of the controller, once the evaluation has been made.
func (c *Inputs) release() {
	c.Shared, c.Answers, c.Details = nil, nil, nil
	c.Recall, c.Intents, c.Remembered = nil, nil, nil
}

// again returns the input of an evaluation that is made once more: it asks
// nobody, and shares nothing with others.
func (c *Inputs) again(calls []eval.Call) eval.Input {
	in := c.Input
	in.Answers = &answers{calls: calls}
	if !in.Policy.Stateful {
		return in
	}
	sizes := c.sizes
	in.Recall = func(name string) value.Value { return c.recalled[name] }
	in.Intents = func(key string) eval.Intent { return c.intents[key] }
	in.Remembered = func(string) (own, all, named int) {
		if len(sizes) == 0 {
			return 0, 0, 0
		}
		first := sizes[0]
		sizes = sizes[1:]
		return first[0], first[1], first[2]
	}
	return in
}

// answers are those of a record, in the order of its calls.
type answers struct {
	calls []eval.Call
}

// Answer implements expr.Answerer.
func (a *answers) Answer(_ context.Context, q *expr.Request) (*expr.Response, error) {
	if len(a.calls) == 0 || a.calls[0].Request.Query != q.Query {
		return nil, fmt.Errorf("the record has no answer of %s", q.Query)
	}
	call := a.calls[0]
	a.calls = a.calls[1:]
	return call.Response, call.Err
}
