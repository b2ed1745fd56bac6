package shards

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// Phase is how the keys of a policy are placed.
type Phase string

// The phases. A policy that is in no placement is spread over all shards. All keys of one
// that is Whole belong to one shard, which follows from its name, and of one that is Led to
// shard 0, that of the leader. While it is gathered or scattered, no replica evaluates it:
// one that has not seen the change yet may.
const (
	Gathering  Phase = "gathering"
	Whole      Phase = "whole"
	Led        Phase = "led"
	Scattering Phase = "scattering"
)

// Placement has the policies that are not spread, by name.
type Placement map[string]Phase

// ledEntry begins the name of the entry that says of a policy that it is led. No policy has
// such a name.
const ledEntry = "led/"

// ParsePlacement reads a placement; "" is an empty one.
func ParsePlacement(text string) (Placement, error) {
	out := Placement{}
	if text == "" {
		return out, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("the placement of policies cannot be read: %w", err)
	}
	for entry, phase := range out {
		if policy, ok := strings.CutPrefix(entry, ledEntry); ok {
			delete(out, entry)
			if phase == Led && out[policy] == Gathering {
				out[policy] = Led
			}
		}
	}
	return out, nil
}

// Text returns the placement as [ParsePlacement] reads it. A replica of an earlier version
// that knows nothing of policies that are led would evaluate its part of one: it reads that
// the policy is gathered, and evaluates nothing.
func (p Placement) Text() string {
	if len(p) == 0 {
		return ""
	}
	entries := maps.Clone(p)
	for policy, phase := range p {
		if phase == Led {
			entries[policy], entries[ledEntry+policy] = Gathering, Led
		}
	}
	out, err := json.Marshal(entries)
	if err != nil {
		return "" // it has nothing that JSON cannot hold
	}
	return string(out)
}

// Shard returns the shard of a key; false while no replica may evaluate it.
func (p Placement) Shard(s Spread, policy *plan.Policy, key eval.Key) (int, bool) {
	switch p[policy.Name] {
	case Whole:
		return s.OfPolicy(policy.Name), true
	case Led:
		return 0, true
	case "":
		return s.OfKey(policy.Name, key), Needs(policy) == ""
	default: // or a phase that a newer version knows
		return 0, false
	}
}

// Needs returns the phase that a policy needs; "" is none, and it is spread. One replica
// has to evaluate all keys of a policy with debounced rules, which count and delay over all
// keys, or with limits of its own, which count all its writes. One in Shadow mode, and the
// enforced one of that name, with which it is compared, are evaluated by the leader: only
// it runs those in Shadow mode and reports what they would write.
func Needs(p *plan.Policy) Phase {
	if p.Mode == plan.Shadow {
		return Led
	}
	if p.Limits.Changes != nil || p.Limits.Removals != nil {
		return Whole
	}
	for _, r := range p.Rules {
		if r.Debounce != nil {
			return Whole
		}
	}
	return ""
}
