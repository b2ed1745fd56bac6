package simulate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// The policies that never come to rest.
const (
	labelled = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules: [{name: own, do: [{labels: {set: {owner: VALUE}}}]}]
`
	counter = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - {name: count, do: [{annotations: {set: {n: '${string(int(object.metadata.?annotations[?"n"].orValue("0")) + 1)}'}}}]}
`
	twice = counter + `    - {name: also, do: [{annotations: {set: {other: '${object.metadata.annotations["n"]}'}}}]}
`
	// asks labels a Widget with what it is told, and asks with the label.
	asks = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: place
      do:
        - select:
            candidates: [{as: c, in: "['a', 'b']"}]
            pipeline: [{call: extender.filterAndScore, with: {reservationID: "${object.metadata.?labels[?'place'].orValue('r')}", ttl: "${duration('1s')}", size: 1}, candidate: {name: "${c}"}}]
            then: [{labels: {set: {place: "${c}"}}}]
`
	often = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules: [{name: look, do: [{remember: {name: x, value: '${elapsed(now, duration("1ms"))}'}}]}]
`
)

func fighting() []string {
	return []string{strings.Replace(labelled, "VALUE", "a", 1), strings.Replace(labelled, "VALUE", "b", 1)}
}

// flipping prefers another candidate each time it is asked.
type flipping struct{ n int }

func (f *flipping) Answer(_ context.Context, r *expr.Request) (*expr.Response, error) {
	f.n++
	out := &expr.Response{Verdicts: make([]expr.Verdict, r.Candidates.Len())}
	for i := range out.Verdicts {
		out.Verdicts[i] = expr.Kept(int64((i + f.n) % 2))
	}
	return out, nil
}

// TestWhatNeverRestsEnds: a simulation whose policies write without an end stops
// and names them.
func TestWhatNeverRestsEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policies []string
		want     []string
	}{
		"two policies, one label": {fighting(), []string{"the policy p", "never comes to rest about ns/a", `the rule "own" writes metadata.labels.owner of Widget ns/a`, `in turn with the rule "own" of the policy p`}},
		"a counter":               {[]string{counter}, []string{"the policy p1", `the rule "count" writes metadata.annotations.n of Widget ns/a`}},
		"answers that flip":       {[]string{asks}, []string{"the policy p1", `the rule "place" writes metadata.labels.place of Widget ns/a`}},
		"two rules":               {[]string{twice}, []string{"the policy p1", `the rules "also", "count" write metadata.annotations.n of Widget ns/a`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := loaded(t, tc.policies...)
			s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: []Object{manifest("a", nil)}, Answers: &flipping{}})
			s.Settle(t.Context())
			s.Advance(t.Context(), start.Add(24*time.Hour))
			got := s.Result()
			if len(got.Errors) != 1 || len(got.Effects) > 2100 {
				t.Fatalf("%d errors after %d writes, want one", len(got.Errors), len(got.Effects))
			}
			for _, want := range tc.want {
				if !strings.Contains(got.Errors[0].Message, want) {
					t.Errorf("%q is not in: %s", want, got.Errors[0].Message)
				}
			}
		})
	}
}

// TestWhatRestsInTheEnd: many steps, each caused by the one before, are no fight.
func TestWhatRestsInTheEnd(t *testing.T) {
	t.Parallel()
	b := loaded(t, strings.Replace(counter, "name: count,", `name: count, when: 'int(object.metadata.?annotations[?"n"].orValue("0")) < 300',`, 1))
	s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: []Object{manifest("a", nil)}})
	s.Settle(t.Context())
	if got := s.Result(); len(got.Errors) > 0 || len(got.Effects) != 300 {
		t.Errorf("%d writes, errors %v", len(got.Effects), got.Errors)
	}
}

// braked is a simulation with the brakes of a controller.
type braked struct {
	*Simulation
	brakes *brake.Brakes
}

func withBrakes(t *testing.T, settings brake.Settings, objects []Object, policies ...string) *braked {
	t.Helper()
	b := loaded(t, policies...)
	out := &braked{}
	settings.Now = func() time.Time {
		if out.Simulation == nil { // it is being made
			return start
		}
		return out.Now()
	}
	out.brakes = brake.New(settings, nil)
	may := guard.Guard{Allowed: []guard.Allowance{{Policy: "p1", Kind: "Widget", Field: guard.Deletion}, {Policy: "p1", Kind: "Part", Field: guard.Deletion}}}
	out.Simulation = New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: objects, Brakes: out.brakes, Answers: &flipping{}, Guard: may})
	out.Settle(t.Context())
	return out
}

// writes counts the writes of a policy, and forgets all.
func (b *braked) writes(policy string) (n int) {
	for _, e := range b.done.result.Effects {
		if e.Policy == policy {
			n++
		}
	}
	b.done.result.Effects = nil
	return n
}

func (b *braked) advance(t *testing.T, d time.Duration) {
	t.Helper()
	b.Settle(t.Context())
	b.Advance(t.Context(), b.clock.Add(d))
}

// wake has keys decided about again, as a controller does.
func (b *braked) wake(t *testing.T, policy string, asOf time.Time) {
	t.Helper()
	for _, key := range b.brakes.Resume(policy, "somebody", asOf) {
		b.agenda.work.add(item{policy, key})
	}
	b.Settle(t.Context())
}

func widgets(n int, fields Object) (out []Object) {
	for i := range n {
		out = append(out, manifest(fmt.Sprintf("w%02d", i), fields))
	}
	return out
}

func newsOf(b *brake.Brakes) (out []brake.Kind) {
	for _, n := range b.News() {
		out = append(out, n.Kind)
	}
	return out
}

// TestTheLimitOfRemovals: the removals beyond the limit are not done, and nothing
// else is written either, until the policy is resumed or its text changes.
func TestTheLimitOfRemovals(t *testing.T) {
	t.Parallel()
	unlabel := `
  for: {apiVersion: example.com/v1, kind: Widget}
  limits: {removals: {perWindow: 10, perCentOf: objects, atLeast: 5}}
  rules: [{name: off, do: [{labels: {set: {on: null}}}, {annotations: {set: {off: "yes"}}}]}]
`
	b := withBrakes(t, brake.DefaultSettings(), widgets(20, Object{"metadata": Object{"labels": Object{"on": "1"}}}), unlabel)
	// One patch of an object holds both.
	if n := b.writes("p1"); n != 5 {
		t.Fatalf("%d writes, want 5", n)
	}
	pauses := b.brakes.Pauses("p1")
	if len(pauses) != 1 || pauses[0].Reason != brake.RemovalLimit || pauses[0].Limit != 5 || pauses[0].First != "Widget ns/w05" {
		t.Fatalf("pauses %+v", pauses)
	}
	for _, want := range []string{"more than 5 removals within 1m0s", "10% of objects", "patch Widget ns/w05", `the rule "off"`, "edict resume p1", "edict rollback p1"} {
		if !strings.Contains(pauses[0].Text(""), want) {
			t.Errorf("%q is not in: %s", want, pauses[0].Text(""))
		}
	}
	b.advance(t, time.Hour)
	b.Apply(manifest("w19", Object{"metadata": Object{"labels": Object{"on": "2"}}}))
	b.Settle(t.Context())
	if n := b.writes("p1"); n != 0 {
		t.Errorf("%d writes while it is paused", n)
	}
	kept := b.brakes.Policy("p1").Kept()
	if len(kept) != 15 || kept[0].Shown[0] != "patch Widget ns/w05: metadata.annotations.off set, metadata.labels.on removed" {
		t.Errorf("%d are kept back, the first %q", len(kept), kept[0].Shown)
	}
	b.wake(t, "p1", pauses[0].Since)
	if n := b.writes("p1"); n != 5 {
		t.Errorf("%d writes after it was resumed, want 5 more", n)
	}
	if diff := cmp.Diff([]brake.Kind{brake.Paused, brake.Resumed, brake.Paused}, newsOf(b.brakes)); diff != "" {
		t.Errorf("news (-want +got):\n%s", diff)
	}
}

// TestAnotherTextEndsAPause also when the process has changed meanwhile.
func TestAnotherTextEndsAPause(t *testing.T) {
	t.Parallel()
	for revision, paused := range map[string]bool{"": true, "other": false} {
		b := loaded(t, strings.Replace(labelled, "VALUE", "a", 1))
		if revision == "" {
			revision = b.Policies[0].Revision
		}
		brakes := brake.New(brake.DefaultSettings(), nil)
		brakes.Restore([]brake.Pause{{Policy: "p1", Revision: revision, Reason: brake.RemovalLimit, Since: start}})
		s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: widgets(1, nil), Brakes: brakes})
		s.Settle(t.Context())
		if got := len(s.done.result.Effects) == 0; got != paused {
			t.Errorf("paused at the revision %s: %v", revision, got)
		}
	}
}

// TestTheLimitOfTheInstallation: the narrower counts.
func TestTheLimitOfTheInstallation(t *testing.T) {
	t.Parallel()
	own := "  limits: {changes: {perWindow: %d, window: 10s}}\n"
	for _, tc := range []struct {
		own, most int64
		want      int
	}{{3, 7, 3}, {7, 3, 3}, {30, 40, 20}} {
		settings := brake.DefaultSettings()
		settings.Max.Changes = &plan.Limit{PerWindow: tc.most, Window: time.Minute, Input: -1}
		b := withBrakes(t, settings, widgets(20, nil), strings.Replace(labelled, "VALUE", "a", 1)+fmt.Sprintf(own, tc.own))
		if n := b.writes("p1"); n != tc.want {
			t.Errorf("own %d, of the installation %d: %d writes, want %d", tc.own, tc.most, n, tc.want)
		}
	}
}

// TestASlowPolicyIsNotPaused: the window slides.
func TestASlowPolicyIsNotPaused(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), nil, strings.Replace(labelled, "VALUE", "a", 1)+"  limits: {changes: {perWindow: 3, window: 60s}}\n")
	for i := range 20 {
		b.Apply(manifest(fmt.Sprintf("w%d", i), nil))
		b.advance(t, 21*time.Second)
	}
	if n := b.writes("p1"); n != 20 || len(b.brakes.Pauses("p1")) > 0 {
		t.Errorf("%d writes, pauses %v", n, b.brakes.Pauses("p1"))
	}
}

// TestAFightIsPaused: the rules of two policies that write a field in turn are
// paused, and no other.
func TestAFightIsPaused(t *testing.T) {
	t.Parallel()
	policies := fighting()
	policies[0] = strings.Replace(policies[0], "rules: [", `rules: [{name: other, do: [{annotations: {set: {seen: "${object.metadata.labels.poke}"}}}]}, `, 1)
	b := withBrakes(t, brake.DefaultSettings(), widgets(1, Object{"metadata": Object{"labels": Object{"poke": "1"}}}), policies...)
	if n, m := b.writes("p1"), b.writes("p2"); n > 10 || m > 10 {
		t.Fatalf("%d and %d writes", n, m)
	}
	for _, policy := range []string{"p1", "p2"} {
		pauses := b.brakes.Pauses(policy)
		if len(pauses) != 1 || pauses[0].Rule != "own" || pauses[0].Reason != brake.Fight || !strings.Contains(pauses[0].Message, "metadata.labels.owner of Widget ns/w00") {
			t.Errorf("%s: pauses %+v", policy, pauses)
		}
	}
	b.Apply(manifest("w00", Object{"metadata": Object{"labels": Object{"poke": "2"}}}))
	b.Settle(t.Context())
	if n := b.writes("p1"); n != 1 {
		t.Errorf("%d writes of the other rule, want 1", n)
	}
}

// TestAFieldThatSomebodyElseWrites is written once in ten seconds.
func TestAFieldThatSomebodyElseWrites(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), strings.Replace(labelled, "VALUE", "a", 1))
	b.writes("p1")
	for range 60 {
		b.Apply(manifest("w00", Object{"metadata": Object{"labels": Object{"owner": "somebody"}}}))
		b.advance(t, time.Second)
	}
	if n := b.writes("p1"); n < 9 || n > 12 {
		t.Errorf("%d writes within a minute, want 5 and then one in ten seconds", n)
	}
	if diff := cmp.Diff([]string{"metadata.labels.owner of Widget ns/w00"}, b.brakes.States(b.Now())["p1"].Contested); diff != "" {
		t.Errorf("contested (-want +got):\n%s", diff)
	}
	b.advance(t, 3*time.Minute)
	if got := b.brakes.States(b.Now())["p1"].Contested; len(got) > 0 {
		t.Errorf("long after that %v", got)
	}
	if got := apiserver.Labels(b.Get(world.ID{GVK: schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}, Namespace: "ns", Name: "w00"}))["owner"]; got != "a" {
		t.Errorf("in the end the label is %q", got)
	}
}

// TestALongFight: a field that somebody else goes on writing is never written at
// once again, is reported once, and another fight after it once more.
func TestALongFight(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), strings.Replace(labelled, "VALUE", "a", 1))
	for fight := range 2 {
		b.writes("p1")
		for range 300 {
			b.Apply(manifest("w00", Object{"metadata": Object{"labels": Object{"owner": "somebody"}}}))
			b.advance(t, time.Second)
		}
		if n := b.writes("p1"); n < 30 || n > 36 {
			t.Errorf("fight %d: %d writes in five minutes, want 5 and then one in ten seconds", fight, n)
		}
		if diff := cmp.Diff([]brake.Kind{brake.Contest}, newsOf(b.brakes)); diff != "" {
			t.Errorf("fight %d: reported (-want +got):\n%s", fight, diff)
		}
		b.advance(t, 3*time.Minute)
	}
}

// TestWhatFeedsItselfIsSlowedDown, and what does not is not.
func TestWhatFeedsItselfIsSlowedDown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy string
		least  int
	}{
		"a counter":         {counter, 15},
		"answers that flip": {asks, 0}, // what is answered when it may write again may be what there is
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), tc.policy)
			if got := b.brakes.States(b.Now())["p1"].Slowed; len(got) != 1 || !strings.Contains(got[0], "Widget ns/w00") {
				t.Errorf("reported as %v", got)
			}
			if n := b.writes("p1"); n > 40 {
				t.Fatalf("%d writes at once", n)
			}
			b.advance(t, time.Minute)
			b.writes("p1")
			b.advance(t, 10*time.Minute)
			if n := b.writes("p1"); n < tc.least || n > 25 {
				t.Errorf("%d writes in ten minutes, want one in 30 s", n)
			}
			if diff := cmp.Diff([]brake.Kind{brake.Slow}, newsOf(b.brakes)); diff != "" {
				t.Errorf("news (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChangesFromOutsideAreNotSlowedDown, however many there are.
func TestChangesFromOutsideAreNotSlowedDown(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), copies)
	for i := range 300 {
		b.Apply(manifest("w00", Object{"spec": Object{"phase": fmt.Sprint(i)}}))
		b.advance(t, 10*time.Millisecond)
	}
	if n := b.writes("p1"); n != 301 || len(newsOf(b.brakes)) > 0 {
		t.Errorf("%d writes, want each", n)
	}
}

// TestDueAgainAndAgain: by the passing of time alone a key is evaluated once a
// second, after the first few times.
func TestDueAgainAndAgain(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), often)
	before := b.done.evaluations
	b.advance(t, time.Minute)
	if n := b.done.evaluations - before; n > 90 {
		t.Errorf("%d evaluations in a minute", n)
	}
	if got := b.brakes.States(b.Now())["p1"].Slowed; len(got) != 1 || !strings.Contains(got[0], "once a second") {
		t.Errorf("reported as %v", got)
	}
}

// TestHold: what a person holds is decided and not written, until its time is
// over.
func TestHold(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), nil, copies)
	hold := brake.Hold{Name: "h", Policy: "p1", Key: "ns/w01", Reason: "maintenance", By: "somebody", Until: start.Add(time.Hour)}
	b.brakes.SetHolds([]brake.Hold{hold}, b.Now())
	for _, w := range widgets(3, Object{"spec": Object{"phase": "x"}}) {
		b.Apply(w)
	}
	b.Settle(t.Context())
	if n := b.writes("p1"); n != 2 {
		t.Errorf("%d writes, want those of the two others", n)
	}
	kept := b.brakes.Policy("p1").Kept()
	if len(kept) != 1 || !kept[0].Of(&hold) || kept[0].Shown[0] != "patch Widget ns/w01 (status): status.phase set" {
		t.Errorf("kept back: %+v", kept)
	}
	b.advance(t, time.Hour)
	for _, w := range b.brakes.SetHolds([]brake.Hold{hold}, b.Now()) {
		for _, key := range w.Keys {
			b.agenda.work.add(item{w.Policy, key})
		}
	}
	b.Settle(t.Context())
	if n := b.writes("p1"); n != 1 || len(b.brakes.Policy("p1").Kept()) > 0 {
		t.Errorf("%d writes after it, want 1", n)
	}
	if diff := cmp.Diff([]brake.Kind{brake.HoldBegun, brake.HoldEnded}, newsOf(b.brakes)); diff != "" {
		t.Errorf("news (-want +got):\n%s", diff)
	}
}

// TestDominoesAreNotSlowedDown: a long chain of writes, each about another object,
// is no fight, neither for a controller nor for a simulation.
func TestDominoesAreNotSlowedDown(t *testing.T) {
	t.Parallel()
	domino := `
  for: {apiVersion: example.com/v1, kind: Widget}
  inputs: [{name: before, apiVersion: example.com/v1, kind: Widget, where: item.spec.next == key.name}]
  rules:
    - name: fall
      when: inputs.before.all(w, has(w.metadata.labels) && 'fallen' in w.metadata.labels)
      do: [{labels: {set: {fallen: "yes"}}}]
`
	var objects []Object
	for i := range 1100 {
		objects = append(objects, manifest(fmt.Sprintf("w%04d", 1100-i), Object{"spec": Object{"next": fmt.Sprintf("w%04d", 1100-i-1)}}))
	}
	b := withBrakes(t, brake.DefaultSettings(), objects, domino)
	if n := b.writes("p1"); n != len(objects) || len(newsOf(b.brakes)) > 0 {
		t.Errorf("%d writes of a controller", n)
	}
	policies := loaded(t, domino)
	s := New(t.Context(), Options{Policies: policies.Policies, Schemas: policies.Schemas, Start: start, Objects: objects})
	s.Settle(t.Context())
	if got := s.Result(); len(got.Errors) > 0 || len(got.Effects) != len(objects) {
		t.Errorf("%d writes of a simulation, errors %v", len(got.Effects), got.Errors)
	}
}
