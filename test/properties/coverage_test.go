package properties

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/coverage"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/test/budget"
)

// TestShippedPoliciesAreCovered: the tests use all of the shipped policies, but for
// what cannot come about. policy-tests/README.md says why.
func TestShippedPoliciesAreCovered(t *testing.T) {
	t.Parallel()
	if !budget.Long() {
		t.Skip("measures the coverage of all policy tests: set EDICT_TEST_LONG=1")
	}
	points := coverage.New()
	report, err := policytest.Run(t.Context(), []string{"../../policy-tests"}, policytest.Options{Coverage: points})
	if err != nil || report.Failed() > 0 {
		t.Fatal(report, err)
	}
	want := []string{
		"configmap-restart condition size(inputs.siblings) > 0: false",
		`kmm-node-modules condition id.contains("/"): false`,
		"secret-restart condition size(inputs.siblings) > 0: false",
	}
	var got []string
	kinds := map[coverage.Kind]int{}
	for _, p := range points.Points() {
		if !strings.HasPrefix(p.File, "../../policies/") {
			continue
		}
		kinds[p.Kind]++
		for _, outcome := range p.Missing() {
			got = append(got, p.Policy+" "+string(p.Kind)+" "+p.Text+": "+outcome)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what no case uses (-want +got):\n%s", diff)
	}
	for _, kind := range []coverage.Kind{coverage.Rule, coverage.Row, coverage.Condition, coverage.Step, coverage.Line} {
		if kinds[kind] < 10 {
			t.Errorf("%d points of the kind %s", kinds[kind], kind)
		}
	}
}
