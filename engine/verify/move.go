package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// Move is one thing that happens; one field is set, and Crash beside Decide.
type Move struct {
	// Decide is the key that is decided about next.
	Decide string
	// Crash kills the process after so many writes of the decision.
	Crash int
	// Restart kills the process between two decisions.
	Restart bool
	// Advance moves the clock.
	Advance time.Duration
	// Patch, Apply and Delete change an object from outside.
	Patch, Apply simulate.Object
	Delete       *simulate.Identity
}

// decides reports whether nothing but the controller moves.
func (m Move) decides() bool { return m.Decide != "" && m.Crash == 0 }

// make makes a move, and reports whether it could be made.
func (m Move) make(ctx context.Context, sim *simulate.Simulation) bool {
	switch {
	case m.Decide != "":
		order := []string{m.Decide}
		sim.Fail(simulate.Fault{Order: &order, Crash: m.Crash})
		sim.Settle(ctx)
	case m.Restart:
		sim.Restart(ctx)
	case m.Advance > 0:
		sim.Advance(ctx, sim.Now().Add(m.Advance))
	case m.Patch != nil:
		return sim.Offer(m.Patch)
	case m.Apply != nil:
		sim.Apply(m.Apply)
	case m.Delete != nil:
		if sim.Get(*m.Delete) == nil {
			return false
		}
		sim.Delete(*m.Delete)
	}
	return true
}

// step returns the move as a step of a test.
func (m Move) step() map[string]any {
	switch {
	case m.Decide != "" && m.Crash > 0:
		return map[string]any{"fail": map[string]any{"order": []any{m.Decide}, "crash": m.Crash}}
	case m.Decide != "":
		return map[string]any{"fail": map[string]any{"order": []any{m.Decide}}}
	case m.Restart:
		return map[string]any{"restart": true}
	case m.Advance > 0:
		return map[string]any{"advance": m.Advance.String()}
	case m.Patch != nil:
		return map[string]any{"patch": m.Patch}
	case m.Apply != nil:
		return map[string]any{"apply": m.Apply}
	default:
		return map[string]any{"delete": reference(*m.Delete)}
	}
}

func reference(id simulate.Identity) map[string]any {
	out := map[string]any{"apiVersion": id.APIVersion(), "kind": id.Kind(), "name": id.Name()}
	if id.Namespace() != "" {
		out["namespace"] = id.Namespace()
	}
	return out
}

// steps returns moves as steps; decisions that follow each other are one.
func steps(moves []Move) (out []any) {
	for _, m := range moves {
		next := m.step()
		if last := len(out) - 1; m.decides() && last >= 0 {
			if order := orderOf(out[last]); order != nil {
				out[last] = map[string]any{"fail": map[string]any{"order": append(order, m.Decide)}}
				continue
			}
		}
		out = append(out, next)
	}
	return out
}

// orderOf returns the order of a step that says nothing else.
func orderOf(step any) []any {
	s, _ := step.(map[string]any)
	fail, _ := s["fail"].(map[string]any)
	order, _ := fail["order"].([]any)
	if len(fail) != 1 {
		return nil
	}
	return order
}

// String says a move in one line.
func (m Move) String() string {
	switch {
	case m.Crash > 0:
		return fmt.Sprintf("%s, killed after write %d", m.Decide, m.Crash)
	case m.Decide != "":
		return m.Decide
	case m.Restart:
		return "restart"
	case m.Advance > 0:
		return "advance " + m.Advance.String()
	case m.Patch != nil:
		return "patch " + named(simulate.ID(m.Patch))
	case m.Apply != nil:
		return "apply " + named(simulate.ID(m.Apply))
	default:
		return "delete " + named(*m.Delete)
	}
}

func named(id simulate.Identity) string {
	if id.Namespace() == "" {
		return id.Kind() + " " + id.Name()
	}
	return id.Kind() + " " + id.Namespace() + "/" + id.Name()
}

func gvkOf(o simulate.Object) schema.GVK { return simulate.ID(o).GVK() }
