package policies

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestTakeBackToTheRevisionBefore: the revision that runs again is the one that was in
// force before, whatever is in the history besides.
func TestTakeBackToTheRevisionBefore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ edits, want string }{
		"two revisions":                {"old new", "old"},
		"three revisions":              {"old new newer", "new"},
		"it was in force before":       {"old new newer new", "newer"},
		"it was the first one":         {"old new old", "new"},
		"the two in turn":              {"old new old new", "old"},
		"a refused one in between":     {"old new BROKEN newer", "new"},
		"it was refused in between":    {"old new BROKEN new", "old"},
		"there is none before":         {"old", ""},
		"none but those refused first": {"BROKEN old", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRolled(t)
			r.keeps = true
			last := ""
			for edit := range strings.FieldsSeq(tc.edits) {
				last = strings.Replace(edit, "BROKEN", brokenText, 1)
				r.look(last, "")
			}
			if r.takeBack(49) {
				t.Error("too few fail, and it is taken back")
			}
			if got := r.takeBack(50); got != (tc.want != "") {
				t.Errorf("it is taken back: %t", got)
			}
			if tc.want == "" {
				tc.want = last
			}
			r.want("it runs", r.look(last, ""), tc.want)
			r.lead(t, nil)
			r.want("after a restart", r.look(last, ""), tc.want)
		})
	}
}

// TestTakenBack: a text that was taken back does not run again until another one was in
// force: not after a restart, nor after it was rejected for another reason, and also if
// the cluster did not store that at first.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	r := newRolled(t)
	r.keeps = true
	stored := true
	r.client.PrependReactor("patch", "controllerrevisions", func(clienttesting.Action) (bool, runtime.Object, error) {
		return !stored, nil, errors.New("no")
	})
	results := func() (out string) {
		list, err := r.client.AppsV1().ControllerRevisions("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range history.List(list.Items, nil)["p"] {
			out += fmt.Sprint(e.Number, " ", e.Result, " ", e.TakenBack, "; ")
		}
		return out
	}
	r.look("old", "")
	r.look("new", "")
	stored = false
	if !r.takeBack(50) {
		t.Fatal("it is not taken back")
	}
	stored = true
	r.want("it is taken back", r.look("new", ""), "old")
	r.want("the history", results(), "1 Active ; 2 RolledBack 50 of 100 objects fail since it came into force: n1: it fails; ")
	v := r.policies.Get("p").Newest
	if p := v.Problems[0]; v.Good() || p.Message != "taken back: 50 of 100 objects fail since it came into force: n1: it fails" || !strings.HasPrefix(p.Hint, "the revision "+r.history.good("p").Revision+" runs again; ") {
		t.Errorf("%v", v.Problems)
	}
	typo := fixture.Labelling("new")
	typo.Mode = "Shadwo"
	r.want("a typo", r.lookAt(typo), "old")
	if v := r.policies.Get("p").Newest; !strings.Contains(v.Problems[0].Message, "unknown mode") {
		t.Errorf("%v", v.Problems)
	}
	for range 2 * maxRevisions {
		r.want("a broken text", r.look(fmt.Sprint(brokenText, len(r.history.entries["p"])), ""), "old")
		r.want("it comes back", r.look("new", ""), "old")
	}
	r.lead(t, nil)
	r.want("after a restart", r.look("new", ""), "old")
	r.want("corrected", r.look("newer", ""), "newer")
	r.want("it is tried again", r.look("new", ""), "new")
	if !r.takeBack(50) {
		t.Error("it is not taken back again")
	}
	r.want("it is taken back again", r.look("new", ""), "newer")
	r.want("rolled back as well", r.look("newer", ""), "newer")
	r.want("in the end", r.look("new", "")[:3], "new")
}

// TestTakenBackAndDisabled: a text that was taken back does not run again because it was
// disabled in between; nothing else does, as nothing ran.
func TestTakenBackAndDisabled(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		r := newRolled(t)
		r.keeps = true
		r.look("old", "")
		r.look("new", "")
		if !r.takeBack(50) {
			t.Fatal("it is not taken back")
		}
		r.want("it is taken back", r.look("new", ""), "old")
		disabled := fixture.Labelling("new")
		for key := range disabled.Data {
			disabled.Data[key] += "  mode: Disabled\n"
		}
		r.want("disabled", r.lookAt(disabled), "nothing")
		if restarts {
			r.lead(t, nil)
		}
		r.want("enabled", r.look("new", ""), "nothing")
		if v := r.policies.Get("p").Newest; v.Good() || !strings.HasPrefix(v.Problems[0].Hint, "correct the text, or take it back: edict rollback p ") {
			t.Errorf("%v", v.Problems)
		}
		r.want("corrected", r.look("newer", ""), "newer")
	}
}

// TestRollbackIsAtOnce: what was in force before comes into force without steps, also
// while the policy is paused, and what was not does in steps.
func TestRollbackIsAtOnce(t *testing.T) {
	t.Parallel()
	const text, other = "a-${params.value}", "b-${params.value}"
	// An edit is of a text, or of a value, by somebody.
	type edit struct {
		by, text, value string
		// stops is 1 more than the step at which the rollout stops; 0 is that it comes to
		// its end.
		stops int
	}
	one, two := edit{"helm", text, "", 0}, edit{"helm", other, "", 0}
	back := edit{history.RollbackManager, text, "", 0}
	for name, tc := range map[string]struct {
		before []edit
		last   edit
		atOnce bool
	}{
		"edict rollback":                               {[]edit{one, two}, back, true},
		"an edit back":                                 {[]edit{one, two}, one, true},
		"an edit forward":                              {[]edit{one}, two, false},
		"forward to what was rolled back":              {[]edit{one, two, back}, two, false},
		"edict rollback to what was rolled back":       {[]edit{one, two, back}, edit{history.RollbackManager, other, "", 0}, true},
		"with another value":                           {[]edit{one, two, {"bob", other, "y", 0}}, edit{history.RollbackManager, text, "y", 0}, true},
		"an edit back with another value":              {[]edit{one, two, {"bob", other, "y", 0}}, edit{"helm", text, "y", 0}, false},
		"a value after edict rollback":                 {[]edit{one, two, back}, edit{"bob", text, "y", 0}, false},
		"the value removed again":                      {[]edit{one, two, back, {"bob", text, "y", 0}}, edit{"carol", text, "", 0}, true},
		"another value after edict rollback":           {[]edit{one, two, back, {"bob", text, "y", 0}}, edit{"carol", text, "z", 0}, false},
		"edict rollback to what was only compared":     {[]edit{one, {"helm", other, "", 1}, one}, edit{history.RollbackManager, other, "", 0}, false},
		"edict rollback to what had some objects":      {[]edit{one, {"helm", other, "", 2}, one}, edit{history.RollbackManager, other, "", 0}, false},
		"an edit to a text of which the rollout ended": {[]edit{one, {"helm", other, "", 1}, one}, two, false},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", restart: ", restarts), func(t *testing.T) {
				t.Parallel()
				r := newRolled(t)
				r.keeps = true
				at, given := map[string]source.Edit{}, ""
				look := func(e edit) string {
					r.now = r.now.Add(time.Minute)
					m, values := fixture.Labelling(e.text), fixture.ConfigMap("values", "", map[string]string{})
					if last := at["p.yaml"]; last.Manager == "" || e.value == given {
						at["p.yaml"] = source.Edit{Manager: e.by, At: r.now}
					}
					if m.Edits, m.Rollout = maps.Clone(at), inSteps; e.value != "" {
						at["p"] = source.Edit{Manager: e.by, At: r.now}
						values.Data["p"], values.Edits = "value: "+e.value, map[string]source.Edit{"p": at["p"]}
					}
					given, r.values = e.value, []*source.Values{values.ReadParams()}
					return r.lookAt(m)
				}
				for _, e := range tc.before {
					if look(e); e.stops > 0 {
						r.decided(0)
						for now := r.assigner.rollouts.active["p"]; now.status.Step < e.stops-1; {
							r.tick(time.Hour)
						}
						r.steps.report.Errors = 1
						r.tick(0)
						r.lookAt(r.last)
						continue
					}
					r.decided(0)
					for range 5 {
						r.tick(time.Hour)
					}
					r.lookAt(r.last)
				}
				r.brakes = brake.State{Pauses: []brake.Pause{{Policy: "p"}}}
				if restarts {
					r.lead(t, nil)
				}
				want := tc.last.text
				if !tc.atOnce {
					want += " beside " + tc.before[len(tc.before)-1].text
				}
				r.want("it runs", look(tc.last), want)
			})
		}
	}
}

// TestWayBack: the error of a revision that was refused says how to get back to the one
// that runs, also if only a value differs, which edict rollback does not change.
func TestWayBack(t *testing.T) {
	t.Parallel()
	const text, other = "a-${params.value}", "b-${params.value}"
	const rollback, values = "; correct the text, or take it back: edict rollback p --policy-namespace ns", "; the text is the same: correct the values for its params, which are in the ConfigMaps labelled edict.dev/params"
	for name, tc := range map[string]struct{ text, value, want string }{
		"another text":           {other, "", rollback},
		"another value":          {text, "value: y", values},
		"another text and value": {other, "value: y", rollback},
	} {
		for _, steps := range []string{"", inSteps} {
			t.Run(fmt.Sprint(name, ", in steps: ", steps != ""), func(t *testing.T) {
				t.Parallel()
				r := newRolled(t)
				r.keeps = true
				r.look(text, steps)
				if tc.value != "" {
					r.values = []*source.Values{fixture.ConfigMap("values", "", map[string]string{"p": tc.value}).ReadParams()}
				}
				r.look(tc.text, steps)
				if steps == "" {
					r.takeBack(50)
				} else {
					r.steps.report.Errors = 1
					r.tick(0)
				}
				r.look(tc.text, steps)
				if v := r.policies.Get("p").Newest; len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Hint, tc.want) {
					t.Errorf("%v, want %s", v.Problems, tc.want)
				}
			})
		}
	}
}
