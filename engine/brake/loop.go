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
	if a.writes() && a.chained(a.Key, a.Cause, a.Now) >= minChainWrites && a.Cause.Depth >= maxChain {
		found := a.describe()
		a.out.Runaway = found.text(a.name, a.Key)
	}
}

// slowDown reports whether the key has to wait because of its own writes.
func (a *admission) slowDown() Reason {
	if !a.writes() {
		return ""
	}
	s := a.slowed[a.Key]
	if s != nil && s.over(a.Now) {
		delete(a.slowed, a.Key)
		s = nil
	}
	if s == nil {
		if a.chained(a.Key, a.Cause, a.Now) < minWrites || !a.Cause.runs(a.Now) {
			return ""
		}
		s = &slowed{Slowed: a.describe(), id: a.name + " " + a.Key.String()}
		s.until = a.Now.Add(firstPause + s.share(firstPause))
		a.slowed[a.Key] = s
		a.brakes.news = append(a.brakes.news, News{Policy: a.name, Kind: Slow, Reason: SlowedDown, Text: "slowed down: " + s.text(a.name, a.Key)})
	}
	if until := s.pause(a.Cause, a.Now); !until.IsZero() {
		a.again(until)
		return SlowedDown
	}
	return ""
}

// describe sums up what a key writes that is slowed down.
func (a *admission) describe() Slowed {
	rules, wanted := map[string]bool{}, map[string]bool{}
	for _, e := range a.Effects {
		for _, rule := range e.Rules {
			rules[rule] = true
		}
		for _, c := range changes(e) {
			if len(wanted) < maxNamed {
				wanted[strings.TrimSpace(c.path+" of "+objectName(e.Target))] = true
			}
		}
	}
	out := Slowed{Rules: slices.Sorted(maps.Keys(rules)), Fields: slices.Sorted(maps.Keys(wanted)), Writes: a.Cause.Depth}
	if a.Cause.Policy != a.name {
		out.Others = []string{fmt.Sprintf("the rule %q of the policy %s", a.Cause.Rule, a.Cause.Policy)}
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
