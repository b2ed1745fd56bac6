package compile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
)

// TestLimits: what a policy may say about how much it writes.
func TestLimits(t *testing.T) {
	t.Parallel()
	const rest = "\n  params: {most: 7, window: {type: duration, default: 10s}}\n  inputs: [{name: pods, apiVersion: v1, kind: Pod}, {name: spaces, apiVersion: v1, kind: Namespace}]\n  rules: [{name: r, do: [{labels: {set: {a: \"${string(size(inputs.pods) + size(inputs.spaces))}\"}}}]}]\n"
	for text, want := range map[string]plan.Limits{
		"{}": {},
		"{changes: {perWindow: 5}}": {
			Changes: &plan.Limit{PerWindow: 5, Window: time.Minute, Input: -1}},
		"{changes: {perWindow: '${params.most}', window: '${params.window}'}, removals: {perWindow: 0, window: 1h}}": {
			Changes: &plan.Limit{PerWindow: 7, Window: 10 * time.Second, Input: -1}, Removals: &plan.Limit{Window: time.Hour, Input: -1}},
		"{removals: {perWindow: 25, perCentOf: objects}}": {
			Removals: &plan.Limit{PerWindow: 25, PerCentOf: "objects", Input: -1, AtLeast: 10, Window: time.Minute}},
		"{removals: {perWindow: 200, perCentOf: inputs.spaces, atLeast: 3}}": {
			Removals: &plan.Limit{PerWindow: 200, PerCentOf: "inputs.spaces", Input: 1, AtLeast: 3, Window: time.Minute}},
	} {
		p, problems := compiled(t, header+"  limits: "+text+rest, PolicyOptions{})
		if p == nil {
			t.Errorf("%s: %v", text, problems)
		} else if diff := cmp.Diff(want, p.Limits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"{changes: {window: 1m}}":                                "needs perWindow",
		"{changes: {perWindow: -1}}":                             "whole number",
		"{changes: {perWindow: many}}":                           "whole number",
		"{changes: {perWindow: 1, window: 1ms}}":                 "from 1s to 24h",
		"{changes: {perWindow: 1, window: soon}}":                "from 1s to 24h",
		"{changes: {perWindow: 1, atLeast: 2}}":                  "atLeast is for a limit with perCentOf",
		"{changes: {perWindow: 1, perCentOf: pods}}":             "must be one of objects, inputs.pods, inputs.spaces",
		"{changes: {perWindow: '${object.spec.unschedulable}'}}": "object",
	} {
		p, problems := compiled(t, header+"  limits: "+text+rest, PolicyOptions{})
		found := false
		for _, one := range problems {
			found = found || strings.Contains(one.Message, want)
		}
		if p != nil || !found {
			t.Errorf("%s: %v, want %q", text, problems, want)
		}
	}
}
