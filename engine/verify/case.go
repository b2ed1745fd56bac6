package verify

import (
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/simulate"
)

// Case is a case of a test that fails.
type Case struct {
	Name  string
	Steps []any
}

// caseOf writes a trial down as a case. The controllers are stopped while the objects
// come, so that the order holds from the first decision on.
func caseOf(t trial, v verdict) Case {
	out := []any{map[string]any{"stop": true}}
	for _, o := range t.objects {
		out = append(out, map[string]any{"apply": o})
	}
	moves := slices.Concat(t.prefix, t.suffix)
	if len(moves) > 0 {
		out = append(out, map[string]any{"fail": map[string]any{"order": []any{}}})
	}
	out = append(out, map[string]any{"start": true})
	if len(moves) > 0 {
		out = append(out, steps(moves)...)
		out = append(out, map[string]any{"fail": map[string]any{"order": []any{simulate.Others}}})
	}
	if v.waited > 0 {
		out = append(out, map[string]any{"advance": v.waited.String()})
	}
	last, _ := out[len(out)-1].(map[string]any)
	last["expect"] = expectation(v.differences)
	name, _, _ := strings.Cut(v.message, "\n")
	return Case{Name: name, Steps: out}
}

// Test says what a test is about besides its case.
type Test struct {
	// Policies are files, relative to that of the test.
	Policies []string
	Start    time.Time
	Params   compile.Overrides
	Answers  map[string]any
}

// Document returns a PolicyTest in YAML with a case for each finding.
func (t Test) Document(findings []Finding) ([]byte, error) {
	var cases []any
	for _, f := range findings {
		cases = append(cases, map[string]any{"name": f.Case.Name, "steps": f.Case.Steps})
	}
	spec := map[string]any{
		"policies": t.Policies, "now": t.Start.UTC().Format(time.RFC3339Nano),
		"cases": cases,
	}
	if len(t.Params) > 0 {
		params := map[string]map[string]any{}
		for policy, values := range t.Params {
			params[policy] = map[string]any{}
			for name, v := range values {
				if params[policy][name] = v.Value; v.Value == nil {
					params[policy][name] = v.Text
				}
			}
		}
		spec["params"] = params
	}
	if len(t.Answers) > 0 {
		spec["answers"] = t.Answers
	}
	return document.YAML(map[string]any{
		"apiVersion": "edict.dev/v1alpha1", "kind": "PolicyTest", "metadata": map[string]any{"name": "counterexample"}, "spec": spec,
	})
}
