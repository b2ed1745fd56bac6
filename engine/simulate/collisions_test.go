package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/guard"
)

// The names that are given to Parts, and lists of two items.
const (
	one       = "part"
	perItem   = "part-${item.name}"
	perObject = "part-${key.name}"
	twoItems  = "'[{\"name\": \"x\"}, {\"name\": \"y\"}]'"
)

// child is a policy that keeps Parts as children.
func child(name, more string) string {
	return fmt.Sprintf("\n  for: {apiVersion: example.com/v1, kind: Widget}\n  children:\n    - {name: part, apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: %q}, from: \"${key.name}\", item: ITEM}%s}\n", name, more)
}

// applying is a policy that applies Parts by a rule; metadata follows the name.
func applying(name, metadata, more string) string {
	return fmt.Sprintf("\n  for: {apiVersion: example.com/v1, kind: Widget}\n  rules:\n    - {name: part%s, do: [{apply: {apiVersion: example.com/v1, kind: Part, metadata: {namespace: ns, name: %q%s}, from: \"${key.name}\", item: ITEM}}]}\n", more, name, metadata)
}

func of(policy, item string) string { return strings.ReplaceAll(policy, "ITEM", item) }

const (
	owners = ", ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: \"${key.name}\", uid: \"${object.metadata.uid}\"}]"
	list   = ", forEach: " + twoItems
	itsOwn = `"${item.name}"`
)

func allowed(field string) guard.Allowance {
	return guard.Allowance{Policy: "p1", Group: "example.com", Kind: "Part", Field: field}
}

// collide makes a world of Widgets a and b for a policy that may delete Parts.
func collide(t *testing.T, policy string, objects ...Object) *Simulation {
	t.Helper()
	b := loaded(t, policy)
	may := guard.Guard{Allowed: []guard.Allowance{allowed(guard.Deletion), allowed("metadata.ownerReferences")}, Assume: true}
	s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: objects, Guard: may})
	s.Settle(t.Context())
	return s
}

// parts returns the Parts, each with what it is from, and the errors.
func parts(s *Simulation) (out []string) {
	for _, o := range s.Objects() {
		if o["kind"] == "Part" {
			out = append(out, fmt.Sprintf("%s from %v %v", metadata(o)["name"], o["from"], o["item"]))
		}
	}
	for _, e := range s.Result().Errors {
		text := e.Message
		if _, after, found := strings.Cut(text, ".yaml:"); found {
			_, text, _ = strings.Cut(after, ": ")
		}
		if said := e.Key.String() + ": " + text; !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	return out
}

// TestCollisions: an object that two primary objects or two items of a list want to have is
// that of the first of them, and an error of the other.
func TestCollisions(t *testing.T) {
	t.Parallel()
	const (
		kept = "Part ns/part is kept for another primary object, Widget ns/a, which exists; nothing is applied. Put key.name, or whatever else tells the primary objects apart, into metadata.name"
		put  = ". Put what tells the items apart, such as a key of theirs, into metadata.name"
	)
	twice := func(rule string) string {
		return fmt.Sprintf("Part ns/part is applied by the item \"x\" of the rule %q already; nothing is applied by the item \"y\" of the rule %q", rule, rule) + put
	}
	for name, tc := range map[string]struct {
		policy string
		want   []string
	}{
		"children":                {of(child(one, ""), "1"), []string{"part from a 1", "ns/b: " + kept}},
		"children that take":      {of(child(one, ", ifExists: take"), "1"), []string{"part from a 1", "ns/b: " + kept}},
		"children that are owned": {of(child(one, ", owner: true"), "1"), []string{"part from a 1", "ns/b: " + kept}},
		"an object with owners":   {of(applying(one, owners, ""), "1"), []string{"part from a 1", "ns/b: " + kept}},
		"children of a list":      {of(child(perObject, list), itsOwn), []string{"part-a from a x", "part-b from b x", "ns/a: " + strings.ReplaceAll(twice("child part"), "ns/part ", "ns/part-a "), "ns/b: " + strings.ReplaceAll(twice("child part"), "ns/part ", "ns/part-b ")}},
		"children that are alike": {of(child(perObject, list), "1"), []string{"part-a from a 1", "part-b from b 1", "ns/a: " + strings.ReplaceAll(twice("child part"), "ns/part ", "ns/part-a "), "ns/b: " + strings.ReplaceAll(twice("child part"), "ns/part ", "ns/part-b ")}},
		"a list":                  {of(applying(perObject, "", list), itsOwn), []string{"part-a from a x", "part-b from b x", "ns/a: " + strings.ReplaceAll(twice("part"), "ns/part ", "ns/part-a "), "ns/b: " + strings.ReplaceAll(twice("part"), "ns/part ", "ns/part-b ")}},
		"items that are alike":    {of(applying(perObject, "", list), "1"), []string{"part-a from a 1", "part-b from b 1"}},
		"no collision":            {of(child("part-${key.name}-${item.name}", list), itsOwn), []string{"part-a-x from a x", "part-a-y from a y", "part-b-x from b x", "part-b-y from b y"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := collide(t, tc.policy, manifest("a", nil), manifest("b", nil))
			if d := cmp.Diff(tc.want, parts(s)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			writes := len(s.Result().Effects)
			s.Restart(t.Context())
			s.Settle(t.Context())
			if again := len(s.Result().Effects); again != writes {
				t.Errorf("%d writes, %d after a restart", writes, again)
			}
		})
	}
}

// TestRulesThatApplyOneObject: two rules that apply one object in turns fail, too.
func TestRulesThatApplyOneObject(t *testing.T) {
	t.Parallel()
	second := strings.ReplaceAll(strings.SplitAfter(applying(one, "", ""), "rules:\n")[1], "name: part,", "name: again,")
	for name, tc := range map[string]struct {
		first, second string
		errors        int
	}{
		"different content": {"1", "2", 1},
		"the same":          {"1", "1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := collide(t, of(applying(one, "", ""), tc.first)+of(second, tc.second), manifest("a", nil))
			if got := parts(s); len(got) != 1+tc.errors || len(s.Result().Effects) != 1 {
				t.Errorf("%d writes: %q", len(s.Result().Effects), got)
			}
		})
	}
}

// TestTakenOver: when the primary object that an object is kept for goes, leaves the
// selector or wants it no longer, the object is that of the other one.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	const (
		gone   = `{at: 1m, delete: {apiVersion: example.com/v1, kind: Widget, namespace: ns, name: a}}`
		leaves = `{at: 1m, patch: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a, labels: {in: "no"}}}}`
		off    = `{at: 1m, patch: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {off: true}}}`

		orphan  = ", whenDeleted: Orphan"
		wanted  = ", when: '!object.spec.off'"
		ofItems = `, forEach: 'object.spec.off ? [] : ["x"]'`
	)
	selected := func(policy string) string {
		return strings.Replace(policy, "kind: Widget}", `kind: Widget, selector: "in=yes"}`, 1)
	}
	for name, tc := range map[string]struct{ policy, event string }{
		"deleted with its primary object":  {child(one, ""), gone},
		"left behind":                      {child(one, orphan), gone},
		"left behind by one of a selector": {selected(child(one, orphan)), gone},
		"left by one that leaves":          {selected(child(one, orphan)), leaves},
		"deleted for one that leaves":      {selected(child(one, "")), leaves},
		"collected with its owner":         {applying(one, owners, ""), gone},
		"owned by one of a selector":       {selected(applying(one, owners, "")), leaves},
		"no longer wanted":                 {child(one, wanted), off},
		"no longer one of a list":          {child(one, ofItems), off},
		"taken, and deleted":               {child(one, ", ifExists: take"), gone},
		"taken, and left behind":           {child(one, ", ifExists: take"+orphan), gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := Object{"metadata": Object{"labels": Object{"in": "yes"}}, "spec": Object{"off": false}}
			s := collide(t, of(tc.policy, "1"), manifest("a", fields), manifest("b", fields))
			s.Run(t.Context(), entries(t, "["+tc.event+"]"), time.Hour)
			if got := parts(s); len(got) == 0 || got[0] != "part from b 1" || s.Ended() != "" {
				t.Errorf("%q, ended %q", got, s.Ended())
			}
		})
	}
}

// TestCollisionsComeToRest: whatever objects collide, of primary objects, items and sets,
// each write is made once, and what is not made is an error.
func TestCollisionsComeToRest(t *testing.T) {
	t.Parallel()
	names := []string{one, perItem, perObject, "part-${key.name}-${item.name}"}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		pick := func(from ...string) string { return from[random.IntN(len(from))] }
		policy := of(child(pick(names...), list+pick("", ", ifExists: take")+pick("", ", owner: true", ", whenDeleted: Orphan")), pick(itsOwn, "1"))
		if random.IntN(2) == 0 {
			other := of(child(pick(names...), list), pick(itsOwn, "2"))
			policy += strings.Replace(strings.SplitAfter(other, "children:\n")[1], "name: part,", "name: other,", 1)
		}
		var objects []Object
		for i := range 1 + random.IntN(3) {
			objects = append(objects, manifest(string(rune('a'+i)), nil))
		}
		s := collide(t, policy, objects...)
		s.Run(t.Context(), entries(t, "[{at: 1m, delete: {apiVersion: example.com/v1, kind: Widget, namespace: ns, name: a}}]"), 24*time.Hour)
		made := map[string]int{}
		for _, e := range s.Result().Effects {
			made[e.Verb+" "+e.Target.Name]++
		}
		for what, times := range made {
			if times > 2 || s.Ended() != "" {
				t.Errorf("%s is written %d times, ended %q:%s", what, times, s.Ended(), policy)
			}
		}
	}
}
