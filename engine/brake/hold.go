package brake

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// Hold is what a person keeps back for a while.
type Hold struct {
	// Name tells holds apart; it is the key of the document that they are kept in.
	Name   string `json:"-"`
	Policy string `json:"policy"`
	// Rule and Key narrow it to a rule, and to an object as NAMESPACE/NAME or
	// NAME; "" is all.
	Rule string `json:"rule,omitempty"`
	Key  string `json:"key,omitempty"`
	// Reason is why, By who holds it.
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

// ParseHold reads a hold as it is kept.
func ParseHold(name, text string) (Hold, error) {
	h := Hold{Name: name}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return h, fmt.Errorf("the hold %q cannot be read: %w", name, err)
	}
	if h.Policy == "" || h.Until.IsZero() {
		return h, fmt.Errorf("the hold %q cannot be read: %w", name, errHold)
	}
	return h, nil
}

var errHold = errors.New("it needs policy and until")

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
