package explore

import (
	"context"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
)

// KeyList are the keys of a policy.
type KeyList struct {
	Policy string     `json:"policy"`
	Keys   []KeyState `json:"keys"`
}

// KeyState is a key with the decision about it on the objects as given.
type KeyState struct {
	eval.Key
	State    string `json:"state"`
	Sentence string `json:"sentence"`
}

// maxSentences is how many keys of a list have their sentence: it costs another
// evaluation.
const maxSentences = 1000

// Keys returns the keys of a policy, sorted.
func (w *World) Keys(ctx context.Context, policy string) (*KeyList, error) {
	p, err := policyOf(w.options.Bundle.Policies, policy)
	if err != nil {
		return nil, err
	}
	var out *KeyList
	err = w.on(ctx, Variant{}, Clock{}, func(s *stage) error {
		w.mu.Lock()
		out = w.keys[p.ID()]
		w.mu.Unlock()
		if out != nil {
			return nil
		}
		out = &KeyList{Policy: p.ID(), Keys: []KeyState{}}
		if c := s.sim.Controller(p.ID()); c != nil {
			if out.Keys, err = w.states(ctx, c); err != nil {
				return err
			}
		}
		w.mu.Lock()
		w.keys[p.ID()] = out
		w.mu.Unlock()
		return nil
	})
	return out, err
}

func (w *World) states(ctx context.Context, c *reconcile.Controller) ([]KeyState, error) {
	keys := c.Keys()
	out := make([]KeyState, 0, len(keys))
	for i, key := range keys {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, stateAbout(ctx, c.Look(ctx, key, w.options.Start, nil), i < maxSentences))
	}
	return out, nil
}

func stateAbout(ctx context.Context, r *record.Record, sentence bool) KeyState {
	out := KeyState{Key: r.Inputs.Key, State: stateOf(r)}
	if sentence {
		out.Sentence = explain.Sentence(r.Inputs.Policy.Primary.Kind, r.Render(ctx))
	}
	return out
}
