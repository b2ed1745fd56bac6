package brake

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// Hold is what a person keeps back for a while.
type Hold struct {
	// Name is unique among the holds of a policy.
	Name   string
	Policy string
	// Rule and Key narrow it to a rule, and to an object as NAMESPACE/NAME or
	// NAME; "" is all.
	Rule string
	Key  string
	// Reason is why, By who holds it.
	Reason string
	By     string
	Until  time.Time
	// Silent keeps its begin and end out of the news.
	Silent bool
}

// Ended reports whether the hold is over.
func (h *Hold) Ended(now time.Time) bool { return !now.Before(h.Until) }

// of reports whether the hold is about a key and a rule of an effect.
func (h *Hold) of(key eval.Key, rules []string) bool {
	return (h.Key == "" || h.Key == key.String()) && (h.Rule == "" || slices.Contains(rules, h.Rule))
}

// String names what is held.
func (h *Hold) String() string {
	out := "the policy " + h.Policy
	if h.Rule != "" {
		out = fmt.Sprintf("the rule %q of %s", h.Rule, out)
	}
	if h.Key != "" {
		out += " for " + h.Key
	}
	return out
}
