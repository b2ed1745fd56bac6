package brake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
)

// observe allows everything, and notes a chain of writes without an end.
func (a *admission) observe() {
	if a.writes() && a.policy.chained(a.request.Key, a.request.Cause, a.request.Now) >= minChainWrites && a.request.Cause.Depth >= maxChain {
		found := a.describe()
		a.out.Runaway = found.text(a.policy.name, a.request.Key)
	}
}

// slowDown reports whether the key has to wait because of its own writes.
func (a *admission) slowDown() Reason {
	if !a.writes() {
		return ""
	}
	s := a.policy.slowed[a.request.Key]
	if s != nil && s.over(a.request.Now) {
		delete(a.policy.slowed, a.request.Key)
		s = nil
	}
	if s == nil {
		if a.policy.chained(a.request.Key, a.request.Cause, a.request.Now) < minWrites || !a.request.Cause.runs(a.request.Now) {
			return ""
		}
		s = &slowed{Slowed: a.describe(), id: a.policy.name + " " + a.request.Key.String()}
		s.until = a.request.Now.Add(firstPause + s.share(firstPause))
		a.policy.slowed[a.request.Key] = s
		a.policy.brakes.news = append(a.policy.brakes.news, News{Policy: a.policy.name, Kind: Slow, Reason: SlowedDown, Text: "slowed down: " + s.text(a.policy.name, a.request.Key)})
	}
	if until := s.pause(a.request.Cause, a.request.Now); !until.IsZero() {
		a.again(until)
		return SlowedDown
	}
	return ""
}

// describe sums up what a key writes that is slowed down.
func (a *admission) describe() Slowed {
	rules, wanted := map[string]bool{}, map[string]bool{}
	for _, e := range a.request.Effects {
		for _, rule := range e.Rules {
			rules[rule] = true
		}
		for _, c := range changes(e) {
			if len(wanted) < maxNamed {
				wanted[strings.TrimSpace(c.path+" of "+objectName(e.Target))] = true
			}
		}
	}
	out := Slowed{Rules: slices.Sorted(maps.Keys(rules)), Fields: slices.Sorted(maps.Keys(wanted)), Writes: a.request.Cause.Depth}
	if a.request.Cause.Policy != a.policy.name {
		out.Others = []string{fmt.Sprintf("the rule %q of the policy %s", a.request.Cause.Rule, a.request.Cause.Policy)}
	}
	return out
}

// maxNamed bounds the fields that a report names.
const maxNamed = 3

func (s *Slowed) text(policy string, key eval.Key) string {
	others := ""
	if len(s.Others) > 0 {
		others = ", in turn with " + strings.Join(s.Others, ", ")
	}
	return fmt.Sprintf("the policy %s never comes to rest about %s: %d writes led to each other and nothing else changed; %s %s%s",
		policy, key, s.Writes, writing(s.Rules), strings.Join(s.Fields, ", "), others)
}

// writing names rules that write, each by itself.
func writing(rules []string) string {
	if len(rules) == 1 {
		return fmt.Sprintf("the rule %q writes", rules[0])
	}
	names := make([]string, len(rules))
	for i, name := range rules {
		names[i] = strconv.Quote(name)
	}
	return "the rules " + strings.Join(names, ", ") + " write"
}
