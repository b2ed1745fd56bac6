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

// TestPausesAreForeseen: without brakes everything is written, and the pause is noted that a
// controller would have made, with all that the policy wanted within the window.
func TestPausesAreForeseen(t *testing.T) {
	t.Parallel()
	rule := "\n  for: {apiVersion: example.com/v1, kind: Widget}\n  limits: LIMITS\n  rules: [{name: unlabel, do: [{labels: {set: {a: null, b: x}}}]}]\n"
	for limits, want := range map[string]string{
		"{}":                          "removals 20 of 10",
		"{removals: {perWindow: 20}}": "",
		"{removals: {perWindow: 19}}": "removals 20 of 19",
		"{removals: {perWindow: 99}, changes: {perWindow: 3}}":                        "changes 20 of 3",
		"{removals: {perWindow: 50, perCentOf: objects, atLeast: 1}}":                 "removals 20 of 10",
		"{removals: {perWindow: 0}, changes: {perWindow: 0}}":                         "removals 20 of 0",
		"{removals: {perWindow: 100, perCentOf: objects}, changes: {perWindow: 100}}": "",
	} {
		t.Run(limits, func(t *testing.T) {
			t.Parallel()
			text, objects := strings.Replace(rule, "LIMITS", limits, 1), widgets(20, Object{"metadata": Object{"labels": Object{"a": "1"}}})
			real := withBrakes(t, brake.DefaultSettings(), objects, text).Paused()
			b := loaded(t, text)
			s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: objects})
			s.Settle(t.Context())
			s.Restart(t.Context())
			s.Settle(t.Context())
			got, noted := "", s.Paused()
			for _, p := range noted {
				got += fmt.Sprintf("%s %d of %d", p.What, p.Count, p.Limit)
			}
			if got != want || len(s.Result().Effects) != 20 {
				t.Errorf("%d writes, noted %q, want %q", len(s.Result().Effects), got, want)
			}
			for i := range noted {
				noted[i].Count = noted[i].Limit + 1 // where brakes stop
			}
			if diff := cmp.Diff(real, noted, cmp.AllowUnexported(Paused{})); diff != "" {
				t.Errorf("-brakes +noted:\n%s", diff)
			}
		})
	}
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
	for _, want := range []string{"more than 5 removals within 1m0s", "10% of objects", "patch Widget ns/w05", `the rule "off"`, "edict resume", "edict rollback"} {
		if !strings.Contains(pauses[0].Text(), want) {
			t.Errorf("%q is not in: %s", want, pauses[0].Text())
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

// TestASimulationHasNoLimits: what a policy says of its writes is for controllers.
func TestASimulationHasNoLimits(t *testing.T) {
	t.Parallel()
	policies := loaded(t, strings.Replace(labelled, "VALUE", "a", 1)+"  limits: {changes: {perWindow: 1}}\n")
	s := New(t.Context(), Options{Policies: policies.Policies, Schemas: policies.Schemas, Start: start, Objects: widgets(3, nil)})
	s.Settle(t.Context())
	if n := len(s.Effects()); n != 3 {
		t.Errorf("%d writes, want 3", n)
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

// TestPace: what would never come to rest writes 30 times at once and then once a second,
// and is told of after ten minutes. It is not told of what comes to rest.
func TestPace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policies []string
		want     string
	}{
		"a counter":               {[]string{counter}, `the rule "count" writes metadata.annotations.n of Widget ns/w00`},
		"answers that flip":       {[]string{asks}, `the rule "place" writes metadata.labels.place of Widget ns/w00`},
		"two policies, one label": {fighting(), `the rule "own" writes metadata.labels.owner of Widget ns/w00`},
		"one that ends":           {[]string{strings.Replace(counter, "name: count,", `name: count, when: 'int(object.metadata.?annotations[?"n"].orValue("0")) < 90',`, 1)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), tc.policies...)
			for i := range tc.policies {
				policy := fmt.Sprintf("p%d", i+1)
				if n := len(written(b.Simulation, policy)); n != 30 {
					t.Errorf("%s: %d writes at once, want 30", policy, n)
				}
			}
			for range 60 {
				b.advance(t, 10*time.Second)
			}
			for i := range tc.policies {
				policy := fmt.Sprintf("p%d", i+1)
				writes, paced := written(b.Simulation, policy), b.brakes.States(b.Now())[policy].Paced
				for n, at := range writes {
					if float64(n+1) > 30+at.Sub(start).Seconds() {
						t.Fatalf("%s: %d writes after %s", policy, n+1, at.Sub(start))
					}
				}
				if tc.want == "" {
					if len(writes) != 90 || len(paced) > 0 {
						t.Errorf("%s: %d writes, reported: %v", policy, len(writes), paced)
					}
					continue
				}
				if len(writes) < 600 || len(paced) != 1 || !strings.HasSuffix(paced[0].String(), tc.want) {
					t.Errorf("%s: %d writes, reported: %v", policy, len(writes), paced)
				}
			}
			if pauses := b.brakes.Pauses("p1"); len(pauses) > 0 {
				t.Errorf("paused: %v", pauses)
			}
		})
	}
}

// written returns when a policy has written.
func written(s *Simulation, policy string) (out []time.Time) {
	for _, e := range s.Effects() {
		if e.Policy == policy {
			out = append(out, e.At)
		}
	}
	return out
}

// TestEventsInBetweenAreJoined: of changes that come faster than the pace the last one is
// written within a second, and a burst that is not too long is not delayed.
func TestEventsInBetweenAreJoined(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		changes, want int
		settled       time.Duration
	}{{29, 30, 0}, {300, 32, time.Second}} {
		b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), copies)
		last := ""
		for i := range tc.changes {
			last = fmt.Sprint(i)
			b.Apply(manifest("w00", Object{"spec": Object{"phase": last}}))
			b.advance(t, 10*time.Millisecond)
		}
		b.advance(t, tc.settled)
		if n := b.writes("p1"); n < tc.want || n > tc.want+2 {
			t.Errorf("%d changes: %d writes, want about %d", tc.changes, n, tc.want)
		}
		status, _ := b.Get(world.MustIdentify(schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}, "ns", "w00"))["status"].(Object)
		if status["phase"] != last {
			t.Errorf("%d changes: the status is %v, want %s", tc.changes, status, last)
		}
	}
}

// TestSomebodyElse writes a field of a policy back at once. The last word is the policy's.
func TestSomebodyElse(t *testing.T) {
	t.Parallel()
	b := withBrakes(t, brake.DefaultSettings(), widgets(1, nil), strings.Replace(labelled, "VALUE", "a", 1))
	for range 600 {
		b.Apply(manifest("w00", Object{"metadata": Object{"labels": Object{"owner": "somebody"}}}))
		b.advance(t, 100*time.Millisecond)
	}
	b.advance(t, time.Second)
	if n := b.writes("p1"); n < 89 || n > 91 {
		t.Errorf("%d writes within a minute, want 30 and then one a second", n)
	}
	if got := apiserver.Labels(b.Get(world.MustIdentify(schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}, "ns", "w00")))["owner"]; got != "a" {
		t.Errorf("in the end the label is %q", got)
	}
}

// TestTheDefaultLimitOfChanges stops a fight about many objects within its first writes,
// and nothing that a pool of nodes does which goes away and comes back.
func TestTheDefaultLimitOfChanges(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 40, 200} {
		b := withBrakes(t, brake.DefaultSettings(), widgets(n, nil), fighting()...)
		stopped := len(b.brakes.Pauses("p1"))+len(b.brakes.Pauses("p2")) > 0
		if most := max(1000, 10*n); stopped != (30*n > most) || b.writes("p1") > most {
			t.Errorf("a fight about %d objects: paused %v", n, stopped)
		}
		b = withBrakes(t, brake.DefaultSettings(), widgets(n, nil), copies)
		for step := range 8 {
			for _, w := range widgets(n, Object{"spec": Object{"phase": fmt.Sprint(step)}}) {
				b.Apply(w)
				b.advance(t, 0)
			}
			b.advance(t, 5*time.Second)
		}
		if pauses := b.brakes.Pauses("p1"); len(pauses) > 0 || b.writes("p1") != 9*n {
			t.Errorf("a restart of %d nodes: %v", n, pauses)
		}
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

// TestDominoesAreNotHeldUp: a long chain of writes, each about another object,
// is no fight, neither for a controller nor for a simulation.
func TestDominoesAreNotHeldUp(t *testing.T) {
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
