package shards

import (
	"fmt"
	"maps"
	"testing"
)

// many returns the revisions of many policies.
func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("a-policy-with-a-long-name-%03d", i)] = "123456789012"
	}
	return out
}

// TestSums: what is otherwise in force of one policy is seen, and concerns few others.
func TestSums(t *testing.T) {
	t.Parallel()
	const groups, policies = 512, 1000
	before, id := many(policies), "a-policy-with-a-long-name-007"
	sums := SumsOf(before, groups)
	if sums.Groups() != groups || !sums.Same(id, SumsOf(maps.Clone(before), groups)) {
		t.Fatalf("%d groups, or they are not the same each time", sums.Groups())
	}
	for what, change := range map[string]func(now map[string]string){
		"another revision":          func(now map[string]string) { now[id] = "2" },
		"another one is loaded":     func(now map[string]string) { now[id] += ">2" },
		"it does not run":           func(now map[string]string) { delete(now, id) },
		"nothing of it is in force": func(now map[string]string) { now[id] = "" },
	} {
		now := maps.Clone(before)
		change(now)
		other, differ := SumsOf(now, groups), 0
		for one := range before {
			if !sums.Same(one, other) {
				differ++
			}
		}
		if sums.Same(id, other) || differ > 10 {
			t.Errorf("%s: it is the same: %t, and of %d policies it is not", what, sums.Same(id, other), differ)
		}
	}
	idle := maps.Clone(before)
	idle["idle"], idle["a-policy-with-a-long-name-007@shadow"] = "", "1"
	if !sums.Same(id, SumsOf(idle, groups)) || !sums.Same("idle", SumsOf(idle, groups)) {
		t.Error("policies of which nothing is in force, or in Shadow mode, count")
	}
	for what, other := range map[string]Sums{"none": nil, "fewer": SumsOf(before, groups/2), "broken": {1}} {
		if sums.Same(id, other) || other.Same(id, sums) {
			t.Errorf("%s are the same", what)
		}
	}
}
