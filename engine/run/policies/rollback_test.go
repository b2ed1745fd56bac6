package policies

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

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

// TestWayBack: the error of a rollout that has stopped says how to get back to the one
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRolled(t)
			r.keeps = true
			r.look(text, inSteps)
			if tc.value != "" {
				r.values = []*source.Values{fixture.ConfigMap("values", "", map[string]string{"p": tc.value}).ReadParams()}
			}
			r.look(tc.text, inSteps)
			r.steps.report.Errors = 1
			r.tick(0)
			r.look(tc.text, inSteps)
			if v := r.policies.Get("p").Newest; len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Hint, tc.want) {
				t.Errorf("%v, want %s", v.Problems, tc.want)
			}
		})
	}
}
