package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/watch"
	"github.com/edict-dev/edict/engine/world"
)

// spec has an input of every kind of route: by an index, by a name, by going
// through all keys, by the entries that were looked up, and as a whole.
const spec = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: example.com/v1, kind: Widget, selector: {matchLabels: {mine: "yes"}}}
  inputs:
    - {name: joined, apiVersion: example.com/v1, kind: Joined, where: item.spec.owner == key.name}
    - {name: named, apiVersion: example.com/v1, kind: Named, get: object.spec.config}
    - {name: scanned, apiVersion: example.com/v1, kind: Scanned, where: item.spec.size > object.spec.size}
    - {name: entries, apiVersion: example.com/v1, kind: Entry, keyBy: item.metadata.name}
    - {name: whole, apiVersion: example.com/v1, kind: Whole}
  rules:
    - name: all
      do:
        - log: {message: "${string(size(inputs.joined.map(j, j.spec.note)))} ${inputs.named.spec.text} ${string(size(inputs.scanned))} ${inputs.entries[object.spec.entry].spec.text} ${string(size(inputs.whole))}"}
`

// routed is a router with two widgets.
type routed struct {
	t      *testing.T
	router *watch.Router
	needs  map[string]world.Source
	masks  map[world.Source]*value.Mask
}

func newRouted(t *testing.T) *routed {
	t.Helper()
	r := newRoutedOf(t, spec)
	for i, name := range []string{"a", "b"} {
		key := eval.Key{Name: name}
		r.change("", widget(name, "yes", i))
		r.router.Looked(key, []eval.Lookup{{Input: 3, Key: "e" + name}, {Input: 4, Whole: name == "a", Ended: name != "a"}})
	}
	return r
}

// newRoutedOf makes a router of a policy.
func newRoutedOf(t *testing.T, spec string) *routed {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	r := &routed{t: t, router: watch.NewRouter(b.Policies[0], selector.Everything), needs: map[string]world.Source{}, masks: map[world.Source]*value.Mask{}}
	for _, need := range readmodel.Requirements(b.Policies[0]) {
		r.needs[need.Source.Kind] = need.Source
		r.masks[need.Source] = value.Merge(r.masks[need.Source], need.Mask)
	}
	return r
}

func widget(name, mine string, size int) string {
	return fmt.Sprintf(`{kind: Widget, metadata: {name: %s, labels: {mine: "%s"}}, spec: {config: c%s, size: %d, entry: e%s}}`, name, mine, name, size, name)
}

// read makes an object of the read model of YAML; nil of "".
func (r *routed) read(text string) *world.Object {
	if text == "" {
		return nil
	}
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		r.t.Fatal(err)
	}
	object["apiVersion"] = "example.com/v1"
	from := r.needs[object["kind"].(string)]
	return readmodel.Object(from, object, schema.Untyped(), r.masks[from])
}

// change returns the keys that a change wakes.
func (r *routed) change(before, after string) string {
	r.t.Helper()
	old, now := r.read(before), r.read(after)
	either := now
	if either == nil {
		either = old
	}
	var out []string
	for _, key := range r.router.Change(r.t.Context(), r.needs[either.Kind], old, now) {
		out = append(out, key.String())
	}
	return strings.Join(out, " ")
}

// TestChange: which keys a change concerns, for every kind of route.
func TestChange(t *testing.T) {
	t.Parallel()
	joined := func(owner, note, more string) string {
		return fmt.Sprintf("{kind: Joined, metadata: {name: j}, spec: {owner: %s, note: %s, more: %s}}", owner, note, more)
	}
	named := func(name, text string) string {
		return fmt.Sprintf("{kind: Named, metadata: {name: %s}, spec: {text: %s}}", name, text)
	}
	scanned := func(size int) string {
		return fmt.Sprintf("{kind: Scanned, metadata: {name: s}, spec: {size: %d}}", size)
	}
	entry := func(name, text string) string {
		return fmt.Sprintf("{kind: Entry, metadata: {name: %s}, spec: {text: %s}}", name, text)
	}
	const whole = "{kind: Whole, metadata: {name: w}}"
	got := map[string]string{}
	want := map[string]string{}
	for name, tc := range map[string]struct{ before, after, want string }{
		"a primary changes":                       {widget("a", "yes", 0), widget("a", "yes", 7), "a"},
		"a primary is not in the selector":        {"", widget("c", "no", 0), ""},
		"a primary leaves the selector":           {widget("a", "yes", 0), widget("a", "no", 0), "a"},
		"a primary goes":                          {widget("b", "yes", 1), "", "b"},
		"joined: it comes":                        {"", joined("a", "x", "y"), "a"},
		"joined: it moves":                        {joined("a", "x", "y"), joined("b", "x", "y"), "a b"},
		"joined: what is read of it changes":      {joined("a", "x", "y"), joined("a", "z", "y"), "a"},
		"joined: what nothing reads changes":      {joined("a", "x", "y"), joined("a", "x", "z"), ""},
		"joined: it is another's":                 {"", joined("c", "x", "y"), ""},
		"named: it comes":                         {"", named("ca", "x"), "a"},
		"named: it changes":                       {named("cb", "x"), named("cb", "y"), "b"},
		"named: nothing gets it":                  {"", named("cx", "x"), ""},
		"scanned: it becomes a member of one":     {scanned(0), scanned(1), "a"},
		"scanned: it is a member of both":         {"", scanned(2), "a b"},
		"scanned: it stays a member":              {scanned(5), scanned(6), ""},
		"entries: one that was looked up":         {entry("ea", "x"), entry("ea", "y"), "a"},
		"entries: one that was looked up, and no": {"", entry("eb", "x"), "b"},
		"entries: one that was not":               {"", entry("ec", "x"), ""},
		"whole: who reads all of it":              {"", whole, "a"},
	} {
		got[name], want[name] = newRouted(t).change(tc.before, tc.after), tc.want
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestLookedEnds: a key that ceases to read something is not woken by it.
func TestLookedEnds(t *testing.T) {
	t.Parallel()
	r := newRouted(t)
	r.router.Looked(eval.Key{Name: "a"}, []eval.Lookup{{Input: 3, Key: "ea", Ended: true}, {Input: 4, Whole: true, Ended: true}})
	if got := r.change("", "{kind: Entry, metadata: {name: ea}, spec: {text: x}}") + r.change("", "{kind: Whole, metadata: {name: w}}"); got != "" {
		t.Errorf("it wakes %s", got)
	}
	if n := r.router.Count(); n != 2 || len(r.router.Keys()) != 2 {
		t.Errorf("%d keys", n)
	}
}
