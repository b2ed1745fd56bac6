package policies

import (
	stdcmp "cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
)

// inEffect is a policy that is enforced.
var inEffect = policyCondition{name: "p", mode: edictv1.ModeEnforce, active: true}

func policyLike(of policyCondition, edit func(*policyCondition)) policyCondition {
	edit(&of)
	return of
}

// setStates are the states of testdata/conditions.json, which the tests of Flux and Argo CD read too.
var setStates = map[string]setCondition{
	"in effect": {policies: []policyCondition{inEffect, inEffect}},
	"in the shadow": {mode: edictv1.ModeShadow, policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.mode = edictv1.ModeShadow }),
	}},
	"disabled":  {mode: edictv1.ModeDisabled, policies: []policyCondition{{name: "p", mode: edictv1.ModeDisabled}}},
	"suspended": {suspended: true, policies: []policyCondition{inEffect}},
	"one policy in the shadow": {policies: []policyCondition{
		inEffect, policyLike(inEffect, func(p *policyCondition) { p.mode = edictv1.ModeShadow }), {name: "q", mode: edictv1.ModeDisabled},
	}},
	"tests run": {policies: []policyCondition{{name: "p", mode: edictv1.ModeEnforce, progress: true}}},
	"rolled out": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.progress = true }),
	}},
	"waits":          {policies: []policyCondition{{name: "p", mode: edictv1.ModeEnforce, waits: "a kind"}, inEffect}},
	"waits for long": {policies: []policyCondition{{name: "p", mode: edictv1.ModeEnforce, waits: "a kind", long: true}}},
	"an edit waits": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.waits = "a kind" }),
	}},
	"text refused, the last good one runs": {refused: reasonInvalidText, policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.refused = reasonInvalidText }),
	}},
	"one of two texts refused": {refused: reasonInvalidText, policies: []policyCondition{
		inEffect, policyLike(inEffect, func(p *policyCondition) { p.refused = reasonInvalidText }),
	}},
	"tests fail, nothing runs": {refused: reasonTestsFail, policies: []policyCondition{{name: "p", mode: edictv1.ModeEnforce, refused: reasonTestsFail}}},
	"params refused in the shadow": {refused: reasonInvalidParams, mode: edictv1.ModeShadow, policies: []policyCondition{
		{name: "p", mode: edictv1.ModeShadow, refused: reasonInvalidParams, active: true},
	}},
	"no ConfigMap, nothing kept":       {refused: history.SourceNotFound},
	"no ConfigMap, the last text runs": {refused: history.SourceNotFound, policies: []policyCondition{inEffect}},
	"another digest":                   {refused: history.DigestMismatch, policies: []policyCondition{inEffect}},
	"refused while suspended": {refused: reasonInvalidText, suspended: true, policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.refused = reasonInvalidText }),
	}},
	"paused": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.paused = "too much" }),
	}},
	"a rollout stopped": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.rolloutStopped = "too much" }),
	}},
	"a rule is held": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.holds = []string{"h"} }),
	}},
	"a policy is held": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.holds, p.held = []string{"h"}, true }),
	}},
	"objects fail": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.failing, p.fails = 1, "1 of 2 objects fail: a" }),
	}},
	"would not start again": {policies: []policyCondition{
		policyLike(inEffect, func(p *policyCondition) { p.unsafe = obstacle{"PermissionMissing", "a permission"} }),
	}},
	"an old CRD": {outdated: obstacle{"CRDOutdated", outdatedMessage}, policies: []policyCondition{inEffect}},
}

// shownConditions returns conditions as TYPE=STATUS REASON, by commas.
func shownConditions(list []metav1.Condition) string {
	var out []string
	for _, kind := range []string{conditionReady, conditionEnforcing, conditionAccepted, conditionReconciling, conditionStalled, conditionHeld, conditionDegraded, conditionRestartSafe} {
		if c := meta.FindStatusCondition(list, kind); c != nil {
			out = append(out, c.Type+"="+string(c.Status)+" "+c.Reason)
		}
	}
	return strings.Join(out, ",")
}

// TestConditions: each state has its conditions, whatever the state before was.
func TestConditions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/conditions.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Name, Conditions string }
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(setStates) {
		t.Errorf("%d rows, %d states", len(rows), len(setStates))
	}
	for _, row := range rows {
		state, known := setStates[row.Name]
		if !known {
			t.Errorf("there is no state %q", row.Name)
			continue
		}
		state.mode = stdcmp.Or(state.mode, edictv1.ModeEnforce)
		state.generation = 3
		if diff := cmp.Diff(row.Conditions, shownConditions(state.conditions(nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.Name, diff)
		}
		for name, before := range setStates {
			if got := shownConditions(state.conditions(before.conditions(nil))); got != row.Conditions {
				t.Errorf("%s after %s: %s", row.Name, name, got)
			}
		}
	}
}

// TestConditionsAgree: in every combination of states of two policies, Reconciling and Stalled are
// never both set, one of them is set if and only if Ready is False, and Enforcing is False unless
// something is enforced.
func TestConditionsAgree(t *testing.T) {
	t.Parallel()
	policies := combinations()
	for _, refused := range []string{"", reasonInvalidText, history.SourceNotFound} {
		for _, suspended := range []bool{false, true} {
			for _, p := range policies {
				for _, q := range policies {
					c := setCondition{mode: edictv1.ModeEnforce, refused: refused, suspended: suspended, policies: []policyCondition{p, q}}
					list := c.conditions(nil)
					is := func(kind string) bool { return meta.IsStatusConditionTrue(list, kind) }
					enforced := slices.ContainsFunc(c.policies, func(p policyCondition) bool { return p.active && p.mode == edictv1.ModeEnforce })
					if is(conditionReconciling) && is(conditionStalled) || (is(conditionReconciling) || is(conditionStalled)) == is(conditionReady) ||
						is(conditionEnforcing) && (!enforced || suspended) || is(conditionAccepted) != (refused == "") || is(conditionReady) && refused != "" {
						t.Fatalf("%+v: %s", c, shownConditions(list))
					}
				}
			}
		}
	}
}

// combinations are the states that a policy can be in.
func combinations() (out []policyCondition) {
	for _, mode := range []edictv1.Mode{edictv1.ModeEnforce, edictv1.ModeShadow, edictv1.ModeDisabled} {
		for _, active := range []bool{false, true} {
			for _, edit := range []func(*policyCondition){
				func(*policyCondition) {}, func(p *policyCondition) { p.refused = reasonTestsFail }, func(p *policyCondition) { p.progress = true },
				func(p *policyCondition) { p.waits = "x" }, func(p *policyCondition) { p.waits, p.long = "x", true }, func(p *policyCondition) { p.paused = "x" },
				func(p *policyCondition) { p.rolloutStopped = "x" }, func(p *policyCondition) { p.holds, p.held = []string{"x"}, true }, func(p *policyCondition) { p.failing = 1 },
			} {
				p := policyCondition{name: "p", mode: mode, active: active}
				edit(&p)
				out = append(out, p)
			}
		}
	}
	return out
}
