package watch_test

import (
	"slices"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
)

// gated reads more of its pool the further a decision gets: its type decides whether
// the last rule is reached, which alone reads the nodes, through a variable.
const gated = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: example.com/v1, kind: Widget}
  inputs:
    - {name: pool, apiVersion: example.com/v1, kind: Pool, get: object.spec.pool}
  variables:
    - {name: type, expression: 'inputs.pool == null ? "" : inputs.pool.spec.type'}
    - {name: nodes, expression: 'inputs.pool.spec.nodes'}
    - {name: names, expression: 'variables.nodes.map(n, n.name)'}
  rules:
    - name: settled
      when: variables.type == "settled"
      stop: true
      do: [{log: {message: "${inputs.pool.spec.note}"}}]
    - name: the rest
      do: [{log: {message: "${variables.names.join(\",\")}"}}]
`

// TestDecided: an object that was got by its name wakes the keys whose last decision may
// have read what has changed of it, and no others.
func TestDecided(t *testing.T) {
	t.Parallel()
	const before = "{kind: Pool, metadata: {name: x, uid: u}, spec: {type: t, note: n, nodes: [{name: a}]}}"
	changes := []struct{ what, after string }{
		{"type", "{kind: Pool, metadata: {name: x, uid: u}, spec: {type: other, note: n, nodes: [{name: a}]}}"},
		{"note", "{kind: Pool, metadata: {name: x, uid: u}, spec: {type: t, note: other, nodes: [{name: a}]}}"},
		{"nodes", "{kind: Pool, metadata: {name: x, uid: u}, spec: {type: t, note: n, nodes: [{name: b}]}}"},
		{"another", "{kind: Pool, metadata: {name: x, uid: v}, spec: {type: t, note: n, nodes: [{name: a}]}}"},
		{"gone", ""},
	}
	r := newRoutedOf(t, gated)
	r.change("", "{kind: Widget, metadata: {name: w}, spec: {pool: x}}")
	key := eval.Key{Name: "w"}
	set := func(rules ...int) (out eval.RuleSet) {
		for _, rule := range rules {
			out.Add(rule)
		}
		return out
	}
	woken := func() (out []string) {
		for _, c := range changes {
			if r.change(before, c.after) == "w" {
				out = append(out, c.what)
			}
		}
		return out
	}
	everything := []string{"type", "note", "nodes", "another", "gone"}
	for _, step := range []struct {
		what    string
		to      eval.Progress
		unknown bool
		want    []string
		more    bool
	}{
		{"stopped before it ran", eval.Progress{Reached: set(0)}, false, []string{"type", "another", "gone"}, false},
		{"stopped after it ran", eval.Progress{Reached: set(0), Ran: set(0)}, false, []string{"type", "note", "another", "gone"}, true},
		{"got further", eval.Progress{Reached: set(0, 1), Ran: set(1)}, false, []string{"type", "nodes", "another", "gone"}, true},
		{"the same again", eval.Progress{Reached: set(0, 1), Ran: set(1)}, false, []string{"type", "nodes", "another", "gone"}, false},
		{"got less far", eval.Progress{Reached: set(0)}, false, []string{"type", "another", "gone"}, false},
		{"failed", eval.Progress{Reached: set(0)}, true, everything, true},
		{"failed again", eval.Progress{Reached: set(0)}, true, everything, false},
	} {
		if step.what == "stopped before it ran" && !slices.Equal(woken(), everything) {
			t.Errorf("before anything is decided only %v wake it", woken())
		}
		if more := r.router.Decided(key, step.to, step.unknown); step.more != (len(more) > 0) {
			t.Errorf("%s: more wakes it than before: %v", step.what, more)
		}
		if got := woken(); !slices.Equal(got, step.want) {
			t.Errorf("%s: it is woken by %v, want %v", step.what, got, step.want)
		}
	}
	r.change("{kind: Widget, metadata: {name: w}, spec: {pool: x}}", "")
	if more := r.router.Decided(key, eval.Progress{}, false); more != nil || woken() != nil {
		t.Error("a key that is gone is known")
	}
}
