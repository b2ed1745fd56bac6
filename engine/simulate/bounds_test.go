package simulate

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// few are bounds that tests reach soon.
var few = bounds{minPasses: 20, minWrites: 20, passesPerKey: 10, writesPerKey: 4}

func several(n int) (out []Object) {
	for i := range n {
		out = append(out, manifest(fmt.Sprint("w", i), Object{"spec": Object{"phase": "x"}}))
	}
	return out
}

// TestManyKeysComeToRest: a world with more keys than the bounds for few keys allow
// evaluations and writes is not taken for one that never comes to rest.
func TestManyKeysComeToRest(t *testing.T) {
	t.Parallel()
	s := simulation(t, several(50), copies)
	s.bounds = few
	s.Settle(t.Context())
	r := s.Result()
	if s.Ended() != "" || len(r.Errors) > 0 || len(r.Effects) != 50 || s.Evaluations() < 50 {
		t.Errorf("ended %q, %v: %d writes in %d evaluations", s.Ended(), r.Errors, len(r.Effects), s.Evaluations())
	}
}

// busy counts up without end.
const busy = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: count
      do: [{status: {n: "${object.?status.n.orValue(0) + 1}"}}]
`

// TestNeverAtRest: what never comes to rest still ends, by whichever bound is reached
// first.
func TestNeverAtRest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bounds bounds
		keys   int
		want   string
	}{
		"passes":               {bounds{minPasses: 20, minWrites: 1000}, 1, "this key is woken again and again"},
		"passes for each key":  {bounds{minPasses: 1, minWrites: 1000, passesPerKey: 10}, 2, "this key is woken again and again"},
		"writes":               {bounds{minPasses: 1000, minWrites: 20}, 1, "they have written 20 times"},
		"writes for each key":  {bounds{minPasses: 1000, minWrites: 1, writesPerKey: 10}, 2, "they have written 20 times"},
		"the default, by time": {defaultBounds, 1, "never comes to rest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simulation(t, several(tc.keys), busy)
			s.bounds = tc.bounds
			s.Settle(t.Context())
			if r := s.Result(); !strings.Contains(s.Ended(), tc.want) || len(r.Errors) != 1 {
				t.Errorf("%d evaluations, %d writes: %q, %v", s.Evaluations(), len(r.Effects), s.Ended(), r.Errors)
			}
		})
	}
}

// TestDefaultBounds: the bounds of a world of few keys, and of one of many.
func TestDefaultBounds(t *testing.T) {
	t.Parallel()
	for keys, want := range map[int][2]int{0: {100_000, 200_000}, 1_000: {100_000, 200_000}, 15_000: {1_500_000, 300_000}, 100_000: {10_000_000, 2_000_000}} {
		if got := [2]int{defaultBounds.passes(keys), defaultBounds.writes(keys)}; got != want {
			t.Errorf("%d keys: %v, want %v", keys, got, want)
		}
	}
}

// TestMaxKept: what is kept is bounded in bytes, whatever it is made of and however many
// keys there come to be.
func TestMaxKept(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{
		"long texts":  "  for: {apiVersion: example.com/v1, kind: Widget}\n  rules:\n    - name: r\n      do: [{annotations: {set: {n: '${string(has(object.metadata.annotations) ? int(object.metadata.annotations.n) + 1 : 0)}', x: '${has(object.metadata.annotations) ? object.metadata.annotations.n : string(0)}${lists.range(5000).map(i, string(i)).join()}'}}}]\n",
		"more keys":   "  for: {apiVersion: example.com/v1, kind: Widget}\n  rules:\n    - name: r\n      do: [{create: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: d, name: '${object.metadata.name}x'}}}]\n",
		"more errors": "  for: {apiVersion: example.com/v1, kind: Widget}\n  rules:\n    - name: r\n      do: [{status: {n: 1}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simulation(t, several(1), policy)
			s.options.MaxKept = 1 << 20
			if name == "more errors" {
				s.Fail(Fault{Times: math.MaxInt, Code: 500})
			}
			s.Settle(t.Context())
			s.Advance(t.Context(), s.Now().Add(10000*time.Hour))
			if !strings.Contains(s.Ended(), "there are more than 1 MiB of writes, calls and errors") || s.Evaluations() > 100_000 {
				t.Errorf("%d evaluations, %d bytes: %q", s.Evaluations(), s.done.kept, s.Ended())
			}
		})
	}
}
