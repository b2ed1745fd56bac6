package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// TestTake: what a take may say, and what it may not.
func TestTake(t *testing.T) {
	t.Parallel()
	const then = ", then: [{labels: {set: {a: b}}}]"
	for name, tc := range map[string]struct{ fields, wrong string }{
		"max":                        {"take: {max: 3}" + then, ""},
		"budget":                     {"take: {budget: 10}" + then, ""},
		"numbers that are not whole": {"take: {weight: double(size(pod.metadata.name)), budget: '10.5'}" + then, ""},
		"together alone":             {`take: {max: 3}, together: [{labels: {set: {a: "${taken[0].pod.metadata.name}"}}}]`, ""},
		"no such candidate":          {`take: {max: 3}, together: [{labels: {set: {a: "${taken[0].pot.metadata.name}"}}}]`, `no field "pot" here`},
		"no such field":              {`take: {max: 3}, together: [{labels: {set: {a: "${taken[0].pod.metadata.nam}"}}}]`, `no field "nam" here`},
		"fields of the winners":      {`take: {max: 3}, together: [{labels: {set: {a: "${taken.map(t, t.pod.metadata.name).join()}"}}}]`, ""},
		"members":                    {`pipeline: [{score: s, groupBy: pod.metadata.namespace, points: "size(members.filter(m, m.pod.metadata.name == 'a'))"}]` + then, ""},
		"no such member":             {`pipeline: [{score: s, groupBy: pod.metadata.namespace, points: "size(members.filter(m, m.pot.metadata.name == 'a'))"}]` + then, `no field "pot" here`},
		"no such field of a member":  {`pipeline: [{score: s, groupBy: pod.metadata.namespace, points: "countDistinct(members, m, m.pod.metadata.nam)"}]` + then, `no field "nam" here`},
		"no bound":                   {"take: {skipTooLarge: true}" + then, "take needs a budget or max"},
		"nothing":                    {"take: {}" + then, "take needs a budget or max"},
		"a weight without a budget":  {"take: {weight: '1', max: 3}" + then, "weight has no use without a budget"},
		"skipTooLarge without one":   {"take: {skipTooLarge: true, max: 3}" + then, "skipTooLarge has no use without a budget"},
		"a text as weight":           {"take: {weight: pod.metadata.name, budget: 3}" + then, "weight must give a number, it gives string"},
		"a text as budget":           {"take: {budget: object.metadata.name}" + then, "budget must give a number, it gives string"},
		"max that is not whole":      {"take: {max: '1.5'}" + then, "this must give int, it gives double"},
		"a budget by candidate":      {"take: {budget: size(pod.metadata.name)}" + then, `undefined name "pod"`},
		"together without take":      {"together: [{labels: {set: {a: b}}}]" + then, "together is for a select with take"},
		"taken in then":              {`take: {max: 3}, then: [{labels: {set: {a: "${string(size(taken))}"}}}]`, `undefined name "taken"`},
		"a candidate in together":    {`take: {max: 3}, together: [{labels: {set: {a: "${pod.metadata.name}"}}}]`, `undefined name "pod"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := header + "  inputs: [{name: pods, apiVersion: v1, kind: Pod}]\n  rules: [{name: r, do: [{select: {candidates: [{as: pod, in: inputs.pods}], " + tc.fields + "}}]}]\n"
			p, problems := compiled(t, text, PolicyOptions{})
			var wrong []string
			for _, one := range problems {
				if one.Severity == document.Error {
					wrong = append(wrong, one.Message)
				}
			}
			got := strings.Join(wrong, "; ")
			if tc.wrong == "" && (p == nil || got != "") || !strings.Contains(got, tc.wrong) {
				t.Errorf("got %q, want %q", got, tc.wrong)
			}
			if p != nil && strings.Contains(tc.fields, "take") && p.Rules[0].Do[0].(*plan.Select).Take == nil {
				t.Error("the plan has no take")
			}
		})
	}
}
