package capture

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

// TestMarkedSecrets: no value of a Secret is captured, also if the policy sees the values
// and somebody has marked the Secret in the cluster as one of a snapshot.
func TestMarkedSecrets(t *testing.T) {
	t.Parallel()
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Secret}\n  rules:\n" +
		"    - name: r\n      do: [{log: {message: \"${json.encode([object.metadata.annotations, object.data])}\"}}]\n"
	p, problems, err := source.NewCompiler(nil, nil).Compile(t.Context(), fixture.Contents("m", map[string]string{"p.yaml": text}).Units[0], fixture.Kinds().Known())
	if p == nil {
		t.Fatal(problems, err)
	}
	for _, values := range []bool{true, false} {
		source := world.Source{GVK: schema.Secret, Values: values}
		object := readmodel.Object(source, map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"namespace": "a", "name": "b", "annotations": map[string]any{v1alpha1.AnnotationDigests: "true", "kept": "x"}},
			"data":     map[string]any{"key": "czNjcmV0"},
		}, nil, value.KeepAll)
		r := &record.Record{Inputs: record.Inputs{Input: eval.Input{Policy: p}}}
		got, _, err := taken(r, []eval.Read{{Source: source, Object: object, Mask: value.KeepAll}})
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		key, ok := got[0]["data"].(map[string]any)["key"].(string)
		annotations := got[0]["metadata"].(map[string]any)["annotations"].(map[string]any)
		if !ok || strings.Contains(key, "czNjcmV0") || annotations["kept"] != "x" || annotations[v1alpha1.AnnotationDigests] == nil {
			t.Errorf("values are seen: %t: %v", values, got[0])
		}
	}
}

// TestPolicyOfASet: the expectations name the policy as the test has it, in no set.
func TestPolicyOfASet(t *testing.T) {
	t.Parallel()
	r := &record.Record{Inputs: record.Inputs{Input: eval.Input{Policy: &plan.Policy{Set: "s", Name: "p"}}}}
	effects, ok := expectation(r, simulate.Result{Effects: []simulate.Effect{{Policy: "s/p", Rule: "r"}, {Policy: "p", Rule: "r"}}})["effects"].([]any)
	if !ok || len(effects) != 2 {
		t.Fatal(effects)
	}
	for _, e := range effects {
		if one, _ := e.(map[string]any); one["policy"] != "p" || one["rule"] != "r" {
			t.Errorf("it expects %v", e)
		}
	}
}
