package simulate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
)

// loaded compiles policies of these tests.
func loaded(t *testing.T, specs ...string) *source.Bundle {
	t.Helper()
	root := t.TempDir()
	for i, spec := range specs {
		text := fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p%d}\nspec:\n", i+1) + spec
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("%d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := source.Load([]string{root}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

// The policies of these tests, about kinds without a schema.
const (
	// copies writes the spec's phase into the status.
	copies = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: copy
      do: [{status: {phase: "${object.?spec.phase.orValue('none')}"}}]
`
	// expires labels a Widget for ten minutes from its spec.since on.
	expires = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: fresh
      when: grace.holds(timestamp(object.spec.since), duration("10m"))
      do: [{labels: {set: {fresh: "yes"}}}]
    - name: stale
      when: elapsed(timestamp(object.spec.since), duration("10m"))
      do: [{labels: {set: {fresh: null}}}]
`
	// counts the Widgets of a Gadget.
	counts = `
  for: {apiVersion: example.com/v1, kind: Gadget}
  inputs:
    - {name: widgets, apiVersion: example.com/v1, kind: Widget, where: item.spec.gadget == key.name}
  rules:
    - name: count
      do: [{status: {widgets: "${size(inputs.widgets)}"}}]
`
	// warns of a Widget that is broken.
	warns = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: warn
      when: object.?spec.broken.orValue(false)
      do: [{event: {type: Warning, reason: Broken, message: "${key.name} is broken"}}]
`
	// fails at a Widget without a phase.
	fails = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: fail
      do: [{labels: {set: {phase: "${object.spec.phase}"}}}]
`
)

// simulation sets a world up.
func simulation(t *testing.T, objects []Object, policies ...string) *Simulation {
	t.Helper()
	b := loaded(t, policies...)
	return New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Objects: objects, Start: start})
}

func gadget(name string) Object {
	return Object{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": Object{"name": name}}
}

// told returns what a simulation did, one line each.
func told(r Result) []string {
	out := []string{}
	for _, e := range r.Effects {
		patch, err := json.Marshal(e.Patch)
		if err != nil {
			patch = []byte(err.Error())
		}
		out = append(out, strings.TrimSuffix(fmt.Sprintf("+%s %s %s: %s %s/%s %s", e.At.Sub(r.Start), e.Policy, e.Rule, e.Verb, e.Target.Name, e.Subresource, patch), "\n"))
	}
	for _, e := range r.Errors {
		out = append(out, fmt.Sprintf("+%s %s %s fails", e.At.Sub(r.Start), e.Policy, e.Key))
	}
	for _, q := range r.Requeue {
		out = append(out, fmt.Sprintf("%s looks at %s at +%s", q.Policy, q.Key, q.At.Sub(r.Start)))
	}
	return out
}

func entries(t *testing.T, text string) []Entry {
	t.Helper()
	out, err := ParseTimeline([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSettles(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("b", nil), manifest("a", Object{"spec": Object{"phase": "x"}}), manifest("c", Object{"status": Object{"phase": "none"}})}, copies)
	s.Run(t.Context(), nil, -1)
	wantSame(t, "what was done", []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`, `+0s p1 copy: patch b/status {"status":{"phase":"none"}}`}, told(s.Result()))
	wantSame(t, "an object", Object{"phase": "x"}, s.Get(widget("a"))["status"])
}

// TestKeysInOrder: policies, then namespaces, then names; and a key that was
// woken by a write comes in its turn.
func TestKeysInOrder(t *testing.T) {
	t.Parallel()
	objects := []Object{gadget("g2"), gadget("g1"), manifest("b", Object{"spec": Object{"gadget": "g1"}}), manifest("a", Object{"spec": Object{"gadget": "g1"}})}
	objects = append(objects, Object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": Object{"namespace": "aa", "name": "z"}})
	s := simulation(t, objects, counts, copies)
	s.Run(t.Context(), nil, -1)
	var got []string
	for _, e := range s.Result().Effects {
		got = append(got, e.Policy+" "+e.Key.String())
	}
	wantSame(t, "the order", []string{"p1 g1", "p1 g2", "p2 aa/z", "p2 ns/a", "p2 ns/b"}, got)
}

// TestDeadlines: with an end, the clock jumps from deadline to deadline; the
// end itself is included. Without one, they are only told.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) Object {
		return Object{"spec": Object{"since": start.Add(d).Format(time.RFC3339)}}
	}
	objects := []Object{manifest("a", at(0)), manifest("b", at(-5*time.Minute)), manifest("c", at(-time.Hour))}
	first := []string{`+0s p1 fresh: patch a/ {"metadata":{"labels":{"fresh":"yes"}}}`, `+0s p1 fresh: patch b/ {"metadata":{"labels":{"fresh":"yes"}}}`}
	five := []string{`+5m0s p1 stale: patch b/ {"metadata":{"labels":{"fresh":null}}}`}
	ten := []string{`+10m0s p1 stale: patch a/ {"metadata":{"labels":{"fresh":null}}}`}
	waitsA, waitsB := []string{"p1 looks at ns/a at +10m0s"}, []string{"p1 looks at ns/b at +5m0s"}
	for name, tc := range map[string]struct {
		until time.Duration
		want  []string
	}{
		"no end":                   {-1, slices.Concat(first, waitsA, waitsB)},
		"at once":                  {0, slices.Concat(first, waitsA, waitsB)},
		"a moment before":          {5*time.Minute - 1, slices.Concat(first, waitsA, waitsB)},
		"just then":                {5 * time.Minute, slices.Concat(first, five, waitsA)},
		"between the two":          {7 * time.Minute, slices.Concat(first, five, waitsA)},
		"until nothing is left":    {time.Hour, slices.Concat(first, five, ten)},
		"the last one is included": {10 * time.Minute, slices.Concat(first, five, ten)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simulation(t, objects, expires)
			s.Run(t.Context(), nil, tc.until)
			wantSame(t, "what was done", tc.want, told(s.Result()))
			if want := start.Add(max(0, tc.until)); !s.Now().Equal(want) {
				t.Errorf("it ends at %v, not at %v", s.Now(), want)
			}
		})
	}
}

// TestTimeline: what happens after the start, entry by entry.
func TestTimeline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		timeline string
		until    time.Duration
		want     []string
	}{
		"objects come, change and go": {`
- at: 2m
  delete: {apiVersion: example.com/v1, kind: Widget, namespace: ns, name: a}
- at: 1m
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: z}}
- at: 30s
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: b}, spec: {phase: v}}
`, -1, []string{
			`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`, `+30s p1 copy: patch b/status {"status":{"phase":"v"}}`, `+1m0s p1 copy: patch a/status {"status":{"phase":"z"}}`,
		}},
		"at one instant, in their order, as one": {`
- at: 1m
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: v}}
- at: 1m
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: z}}
`, -1, []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`, `+1m0s p1 copy: patch a/status {"status":{"phase":"z"}}`}},
		"at the start, after the first work": {`
- at: 0s
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: v}}
`, -1, []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`, `+0s p1 copy: patch a/status {"status":{"phase":"v"}}`}},
		"at the end": {`
- at: 1m
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: v}}
`, time.Minute, []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`, `+1m0s p1 copy: patch a/status {"status":{"phase":"v"}}`}},
		"after the end": {`
- at: 61s
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: v}}
`, time.Minute, []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`}},
		"stopped and started": {`
- {at: 1m, stop: true}
- at: 2m
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: v}}
- {at: 3m, start: true}
`, -1, []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`, `+3m0s p1 copy: patch a/status {"status":{"phase":"v"}}`}},
		"restarted with nothing to do": {`
- {at: 1m, restart: true}
`, -1, []string{`+0s p1 copy: patch a/status {"status":{"phase":"x"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simulation(t, []Object{manifest("a", Object{"spec": Object{"phase": "x"}})}, copies)
			s.Run(t.Context(), entries(t, tc.timeline), tc.until)
			wantSame(t, "what was done", tc.want, told(s.Result()))
		})
	}
}

// TestEntriesBeforeDeadlines: of one instant, what happens comes first, then
// the deadlines.
func TestEntriesBeforeDeadlines(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", Object{"spec": Object{"since": start.Format(time.RFC3339)}})}, expires)
	s.Run(t.Context(), entries(t, `
- at: 10m
  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a, labels: {fresh: "yes"}}, spec: {since: "2026-03-01T12:05:00Z"}}
`), -1)
	wantSame(t, "what was done", []string{`+0s p1 fresh: patch a/ {"metadata":{"labels":{"fresh":"yes"}}}`, "p1 looks at ns/a at +15m0s"}, told(s.Result()))
}

// TestDeadlinesBetweenEntries are kept although no end is given.
func TestDeadlinesBetweenEntries(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", Object{"spec": Object{"since": start.Format(time.RFC3339)}})}, expires)
	s.Run(t.Context(), entries(t, "- at: 20m\n  delete: {apiVersion: example.com/v1, kind: Widget, namespace: ns, name: a}\n"), -1)
	wantSame(t, "what was done", []string{`+0s p1 fresh: patch a/ {"metadata":{"labels":{"fresh":"yes"}}}`, `+10m0s p1 stale: patch a/ {"metadata":{"labels":{"fresh":null}}}`}, told(s.Result()))
}

// TestRetries: a key that failed is tried again after a pause that doubles,
// as long as the simulation lasts.
func TestRetries(t *testing.T) {
	t.Parallel()
	failing := func(until time.Duration) []string {
		s := simulation(t, []Object{manifest("a", nil)}, copies)
		s.Fail(Fault{Verb: "patch", Times: 4})
		s.Run(t.Context(), nil, until)
		return told(s.Result())
	}
	failed := []string{"+0s p1 ns/a fails", "+5ms p1 ns/a fails", "+15ms p1 ns/a fails", "+35ms p1 ns/a fails"}
	written := []string{`+75ms p1 copy: patch a/status {"status":{"phase":"none"}}`}
	wantSame(t, "without an end", failed[:1], failing(-1))
	wantSame(t, "until the third", failed[:3], failing(15*time.Millisecond))
	wantSame(t, "until it works", slices.Concat(written, failed), failing(time.Minute))
}

// TestRetriesAreBounded: the pause does not grow without end.
func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", nil)}, copies)
	s.Fail(Fault{Verb: "patch", Times: 1000})
	s.Run(t.Context(), nil, 10*time.Minute)
	r := s.Result()
	last := len(r.Errors) - 1
	if pause := r.Errors[last].At.Sub(r.Errors[last-1].At); pause != time.Minute {
		t.Errorf("the last pause was %v", pause)
	}
}

// TestFinalFailuresAreNotRetried: an expression that fails fails again.
func TestFinalFailuresAreNotRetried(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", nil)}, fails)
	s.Run(t.Context(), nil, 10*time.Minute)
	wantSame(t, "what was done", []string{"+0s p1 ns/a fails"}, told(s.Result()))
}

// TestConflictsAreQuiet: they are tried again, and nobody is told.
func TestConflictsAreQuiet(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", nil)}, copies)
	s.Fail(Fault{Verb: "patch", Times: 1, Code: 409})
	s.Run(t.Context(), nil, time.Second)
	wantSame(t, "what was done", []string{`+5ms p1 copy: patch a/status {"status":{"phase":"none"}}`}, told(s.Result()))
}

// TestChangeEndsAFailure: a key that failed is evaluated as soon as something
// that it read has changed.
func TestChangeEndsAFailure(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", nil)}, fails)
	s.Run(t.Context(), entries(t, "- at: 1ms\n  apply: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: x}}\n"), time.Hour)
	wantSame(t, "what was done", []string{`+1ms p1 fail: patch a/ {"metadata":{"labels":{"phase":"x"}}}`, "+0s p1 ns/a fails"}, told(s.Result()))
}

// TestRestartForgets: after a restart nobody remembers that an event was told.
func TestRestartForgets(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", Object{"spec": Object{"broken": true}})}, warns)
	s.Run(t.Context(), entries(t, "- {at: 3m, restart: true}"), -1)
	event := `event a/ {"message":"a is broken","reason":"Broken","type":"Warning"}`
	wantSame(t, "what was done", []string{"+0s p1 warn: " + event, "+3m0s p1 warn: " + event}, told(s.Result()))
}

// TestDisabledPolicies are not run.
func TestDisabledPolicies(t *testing.T) {
	t.Parallel()
	s := simulation(t, []Object{manifest("a", nil)}, "  mode: Disabled"+copies)
	s.Run(t.Context(), nil, -1)
	wantSame(t, "what was done", []string{}, told(s.Result()))
}

// TestSameInputSameBytes: the same world and timeline give the same result, to
// the byte.
func TestSameInputSameBytes(t *testing.T) {
	t.Parallel()
	b, err := source.Load([]string{"../../policies"}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := ReadObjects("../../examples/storage", "../../examples/storage/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../examples/storage-timeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	result := func() string {
		s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Objects: objects, Start: start, KeepTraces: true})
		s.Run(t.Context(), entries(t, string(text)), 24*time.Hour)
		out, err := json.Marshal(s.Result())
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	first := result()
	for range budget.Of(1, 3) {
		if again := result(); again != first {
			t.Fatal("the same input gave another result")
		}
	}
	if !strings.Contains(first, `"effects":[{`) {
		t.Error("nothing was done at all")
	}
}

// TestMissedPatch: a patch of what does not exist is told.
func TestMissedPatch(t *testing.T) {
	t.Parallel()
	s := simulation(t, nil, copies)
	s.Run(t.Context(), entries(t, `[{at: 1m, patch: {apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a}, spec: {phase: v}}}]`), -1)
	got := s.Result().Missed
	if len(got) != 1 || got[0].Target.Name != "a" || got[0].At.Sub(s.Result().Start) != time.Minute {
		t.Errorf("%+v", got)
	}
}

// TestResultAsWorld: the objects of a result in JSON, with their managers, are a world.
func TestResultAsWorld(t *testing.T) {
	t.Parallel()
	const applies = `  for: {apiVersion: example.com/v1, kind: Widget}
  rules: [{name: r, do: [{apply: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: "${key.name}"}, spec: {phase: "${object.spec.phase}"}}}]}]
`
	s := simulation(t, []Object{manifest("a", Object{"spec": Object{"phase": "x"}})}, applies)
	s.Run(t.Context(), nil, -1)
	text, err := json.Marshal(s.Shown(true))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := ParseObjects("result.json", text)
	if err != nil || !slices.ContainsFunc(objects, func(o Object) bool { return metadata(o)["managedFields"] != nil }) {
		t.Fatalf("%v, %v", objects, err)
	}
	again := simulation(t, objects, applies)
	again.Run(t.Context(), nil, -1)
	if effects := again.Result().Effects; len(effects) > 0 {
		t.Errorf("the world is not as it was left: %+v", effects)
	}
}

// TestEmptyResult: absent lists are written as empty ones.
func TestEmptyResult(t *testing.T) {
	t.Parallel()
	s := simulation(t, nil, copies)
	s.Run(t.Context(), nil, -1)
	text, err := json.Marshal(s.Result())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"start":"2026-03-01T12:00:00Z","end":"2026-03-01T12:00:00Z","effects":[],"calls":[],"objects":[],"errors":[],"requeue":[],"paused":[]}`
	if string(text) != want {
		t.Errorf("got %s", text)
	}
}

func TestParseTimelineRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- {at: 1m, aply: {}}":               `unknown field`,
		"- {at: -1m}":                        "at -1m0s: times are counted from the start",
		"- {at: soon}":                       `invalid duration "soon"`,
		"- {at: 60}":                         `a duration is a text such as "90s": 60`,
		"at: 1m":                             "a timeline is a list of entries: it is of the type object, and has to be a list",
		"- {at: 1m}\n- {at: 2m, apply: x}":   "entry 2: apply is of the type string, and has to be an object; an entry of a timeline has at",
		"- [":                                "1:1: not valid YAML: did not find expected",
		"- {at: 1m}\n---\n- {at: 2m}\n":      "line 3: there is a second document",
		"- {at: 1m, delete: {nam: a}}":       "unknown field",
		"- {at: 1m, fail: {verb: pach}}":     `at 1m0s: there is no verb "pach"; did you mean "patch"?`,
		"- {at: 1m, fail: {times: \"two\"}}": "entry 1: fail.times is of the type string, and has to be of the type int",
	} {
		if _, err := ParseTimeline([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	const on = "- {at: 1m, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {on: \"1\", y: 010}}}\n"
	list, err := ParseTimeline([]byte(on))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := ParseObjects("o.yaml", []byte(on[len("- {at: 1m, apply: "):len(on)-2]+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(objects[0], list[0].Apply); d != "" {
		t.Errorf("a manifest and a timeline differ (-manifest +timeline):\n%s", d)
	}
	if list, err := ParseTimeline(nil); err != nil || len(list) != 0 {
		t.Errorf("an empty timeline: %v, %v", list, err)
	}
}
