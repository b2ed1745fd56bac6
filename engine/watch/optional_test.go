package watch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// optionalSpec decides about keys without a primary. Its inputs name the key and have a
// further condition.
const optionalSpec = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: example.com/v1, kind: Widget, optional: true}
  inputs:
    - {name: on, apiVersion: example.com/v1, kind: Member, where: item.spec.owner == key.name && item.spec.open}
    - {name: large, apiVersion: example.com/v1, kind: Member, where: item.spec.owner == key.name && item.spec.size > size(key.name)}
    - {name: others, apiVersion: example.com/v1, kind: Other, where: "key.name in item.spec.owners && item.spec.size < 3 && !item.spec.open"}
  rules:
    - name: all
      do:
        - log: {message: "${string(size(inputs.on))} ${string(size(inputs.large))} ${json.encode(inputs.others.map(o, o.spec.size))}"}
`

// member is an object of the test; the zero value is none.
type member struct {
	kind, name, owner, other string
	on                       bool
	size                     int
}

func (m *member) text() string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("{kind: %s, metadata: {name: %s}, spec: {owner: %q, owners: [%q, %q], open: %v, size: %d}}", m.kind, m.name, m.owner, m.owner, m.other, m.on, m.size)
}

// reads returns what an evaluation of a key reads of a world, as a text.
func reads(world map[string]*member, key string) string {
	var out []string
	for _, kind := range []string{"m0", "m1", "m2", "o0", "o1", "o2"} {
		m := world[kind]
		switch {
		case m == nil:
		case m.kind == "Member":
			if m.owner == key && m.on {
				out = append(out, m.name+" is on")
			}
			if m.owner == key && m.size > len(key) {
				out = append(out, m.name+" is large")
			}
		default:
			if (m.owner == key || m.other == key) && m.size < 3 && !m.on {
				out = append(out, m.name, fmt.Sprint(m.size))
			}
		}
	}
	return strings.Join(out, " ")
}

// TestOptionalKeys: a key without a primary is woken by every change that makes what its evaluation reads another, by whatever part of a condition.
func TestOptionalKeys(t *testing.T) {
	t.Parallel()
	keys := []string{"a", "bb", "ccc"}
	woken := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		r := newRoutedOf(t, optionalSpec)
		world := map[string]*member{}
		for step := range 40 {
			name := []string{"m0", "m1", "m2", "o0", "o1", "o2"}[random.IntN(6)]
			next := &member{kind: "Member", name: name, owner: keys[random.IntN(3)], on: random.IntN(2) == 0, size: random.IntN(5), other: keys[random.IntN(3)]}
			if name[0] == 'o' {
				next.kind = "Other"
			}
			if random.IntN(5) == 0 {
				next = nil
			}
			before := map[string]string{}
			for _, key := range keys {
				before[key] = reads(world, key)
			}
			was := world[name]
			if was == nil && next == nil {
				continue
			}
			world[name] = next
			got := " " + r.change(was.text(), next.text()) + " "
			for _, key := range keys {
				if before[key] == reads(world, key) {
					continue
				}
				woken++
				if !strings.Contains(got, " "+key+" ") {
					t.Fatalf("seed %d, step %d: %q becomes %q: %s reads %q, before %q, and is not woken (%s)", seed, step, was.text(), next.text(), key, reads(world, key), before[key], got)
				}
			}
		}
	}
	if woken < 200 {
		t.Errorf("only %d keys had to be woken", woken)
	}
}
