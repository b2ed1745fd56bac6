package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
)

// TestConditionsOfAllKinds: a condition is written once, whatever fields the conditions of
// a kind have: a field that the API server drops would be written again and again.
func TestConditionsOfAllKinds(t *testing.T) {
	t.Parallel()
	kinds := 0
	for _, version := range []string{"v1", "apps/v1", "batch/v1", "policy/v1", "autoscaling/v2", "networking.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1", "storage.k8s.io/v1"} {
		for _, kind := range schema.BuiltinKinds(version) {
			gvk := schema.GVK{APIVersion: version, Kind: kind}
			status := schema.Builtin().Of(gvk).Field("status")
			if status == nil || status.Field("conditions") == nil || status.Kind != schema.Object {
				continue
			}
			kinds++
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				writesOnce(t, gvk)
			})
		}
	}
	if kinds < 12 {
		t.Errorf("%d kinds have conditions", kinds)
	}
}

func writesOnce(t *testing.T, gvk schema.GVK) {
	t.Helper()
	labelled := func(n int) Object {
		m := Object{"name": "a", "labels": Object{"n": fmt.Sprint("n", n)}}
		if r, _ := schema.Builtin().Resource(gvk); r.Namespaced {
			m["namespace"] = "ns"
		}
		return Object{"apiVersion": gvk.APIVersion, "kind": gvk.Kind, "metadata": m}
	}
	s := simulation(t, []Object{labelled(0)}, fmt.Sprintf("  for: {apiVersion: %s, kind: %s}\n  rules:\n    - name: r\n      when: size(object.metadata.?labels.orValue({})) > 0\n      do: [{condition: {type: Checked, status: \"True\", reason: Told, message: it is}}]\n", gvk.APIVersion, gvk.Kind))
	s.Settle(t.Context())
	for n := range 2 {
		patched, err := apiserver.Merged(s.Get(ID(labelled(0))), labelled(n+1))
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(patched)
		s.Settle(t.Context())
	}
	r := s.Result()
	if len(r.Errors) > 0 && strings.Contains(r.Errors[0].Message, "not open to policies") {
		t.Skip(r.Errors[0].Message)
	}
	if len(r.Effects) != 1 || len(r.Errors) > 0 || s.Evaluations() < 3 {
		t.Errorf("%d evaluations: %v", s.Evaluations(), told(r))
	}
}
