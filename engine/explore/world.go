package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// Options are what is looked at.
type Options struct {
	// Bundle has the policies.
	Bundle *source.Bundle
	// Against has the policies of another revision; nil is none.
	Against *source.Bundle
	Objects []simulate.Object
	Start   time.Time
	// Answers are those of builtins that call out; nil is that none are known.
	Answers expr.Answerer
	Guard   guard.Guard
	// Origin says for people where the objects are from.
	Origin string
}

// World is a set of policies with the objects that they decide about. It is safe
// for concurrent use.
type World struct {
	options Options
	schemas *schema.Set
	// mu guards the two after it.
	mu     sync.Mutex
	stages []*stage
	keys   map[string]*KeyList
	// running guards past.
	running sync.Mutex
	past    *past
}

// New returns a world; nothing is evaluated yet.
func New(o Options) *World {
	w := &World{options: o, schemas: o.Bundle.Schemas, keys: map[string]*KeyList{}}
	if o.Against != nil {
		w.schemas = schema.NewSet(o.Bundle.Schemas)
		w.schemas.AddAll(o.Against.Schemas)
	}
	return w
}

// Summary is what the page shows first.
type Summary struct {
	Origin  string    `json:"origin"`
	Start   time.Time `json:"start"`
	Objects int       `json:"objects"`
	// Against says that there is another revision to compare with.
	Against  bool     `json:"against"`
	Policies []Policy `json:"policies"`
}

// Policy describes a policy.
type Policy struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
	Mode     string `json:"mode"`
	Kind     string `json:"kind"`
	File     string `json:"file"`
	// Keys is how many objects it decides about.
	Keys int `json:"keys"`
	// Selects says that it chooses among candidates.
	Selects bool `json:"selects"`
	// Hidden says that values are not shown: it reads those of Secrets.
	Hidden bool    `json:"hidden"`
	Params []Param `json:"params"`
}

// Summary describes the world.
func (w *World) Summary(ctx context.Context) (*Summary, error) {
	out := &Summary{Origin: w.options.Origin, Start: w.options.Start.UTC(), Objects: len(w.options.Objects), Against: w.options.Against != nil, Policies: []Policy{}}
	err := w.on(ctx, Variant{}, Clock{}, func(s *stage) error {
		for _, p := range w.options.Bundle.Policies {
			one := describe(p)
			if c := s.sim.Controller(p.ID()); c != nil && p.Mode == plan.Enforce {
				one.Keys = len(c.Keys())
			}
			out.Policies = append(out.Policies, one)
		}
		return nil
	})
	slices.SortFunc(out.Policies, func(a, b Policy) int { return compareTexts(a.Name+" "+a.Mode, b.Name+" "+b.Mode) })
	return out, err
}

// policyOf returns the policy of a name that decides, or the one that does not. The
// name of a document is that of its policy if there is only one.
func policyOf(policies []*plan.Policy, name string) (*plan.Policy, error) {
	var names, kinds []string
	var found *plan.Policy
	for _, p := range policies {
		names = append(names, p.ID())
		if p.Named(name) && !slices.Contains(kinds, p.ID()) {
			kinds = append(kinds, p.ID())
		}
		if p.ID() == name && (found == nil || p.Mode == plan.Enforce) {
			found = p
		}
	}
	switch {
	case found != nil:
		return found, nil
	case len(kinds) == 1:
		return policyOf(policies, kinds[0])
	case len(kinds) > 1:
		return nil, &NotFoundError{fmt.Sprintf("%s is a policy for each of several kinds", name), "name one of " + strings.Join(kinds, ", ")}
	}
	return nil, &NotFoundError{fmt.Sprintf("there is no policy %q here", name), document.DidYouMean(name, names)}
}

// NotFoundError says that what was asked for does not exist.
type NotFoundError struct{ What, Hint string }

// Error implements error.
func (e *NotFoundError) Error() string {
	if e.Hint == "" {
		return e.What
	}
	return e.What + "; " + e.Hint
}
