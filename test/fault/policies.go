package fault

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// policySets are the sets of policies.
var policySets = schema.GroupVersionResource{Group: "edict.dev", Version: "v1alpha1", Resource: "policysets"}

// policy puts policies into a set of their own, or replaces those in it.
func (s *stage) policy(name, text string) {
	s.t.Helper()
	s.added.Add(1)
	s.put(configMaps, object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": home}, "data": object{name + ".yaml": text},
	})
	s.put(policySets, object{
		"apiVersion": "edict.dev/v1alpha1", "kind": "PolicySet", "metadata": object{"name": name, "namespace": home},
		"spec": object{"source": object{"configMap": object{"name": name}}, "mode": "Enforce", "allow": allow(name)},
	})
}

// put creates an object of the home namespace, or replaces it.
func (s *stage) put(of schema.GroupVersionResource, body object) {
	s.t.Helper()
	api, o := s.client.Resource(of).Namespace(home), &unstructured.Unstructured{Object: body}
	_, err := api.Create(s.t.Context(), o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		var text []byte
		if text, err = json.Marshal(body); err == nil {
			_, err = api.Patch(s.t.Context(), o.GetName(), types.MergePatchType, text, metav1.PatchOptions{})
		}
	}
	s.must(nil, err)
}

// allow returns the allowances of the policies of a set.
func allow(set string) []any {
	marks := func(policy string) any {
		return object{"policy": policy, "apiGroup": "", "kind": "Node", "fields": []any{"metadata.labels", "metadata.annotations"}}
	}
	if set != "base" {
		return []any{marks(set)}
	}
	return []any{marks("readiness"), marks("owner"), object{"policy": "copies", "apiGroup": "", "kind": "ConfigMap", "fields": []any{"metadata.finalizers", "delete"}}}
}

// markers returns the names of the policies that write labels and annotations of Nodes.
func markers() []string {
	out := []string{"readiness", "owner", "one", "two", "counter", "place"}
	for i := range 1000 {
		out = append(out, fmt.Sprint("p", i))
	}
	return out
}

// nodeRule is a policy with one rule about one node.
func nodeRule(policy, node, do string) string {
	return fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: %s}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules:\n    - name: %s\n      when: key.name == %q\n      do:\n        - %s\n",
		policy, ruleOf(policy), node, do)
}

// ruleOf is the name of the rule of a policy that nodeRule makes.
func ruleOf(policy string) string { return "rule of " + policy }

// ready waits until the set of a policy enforces it.
func (s *stage) ready(set string, within time.Duration) {
	s.t.Helper()
	s.eventually("the set "+set, within, func(ctx context.Context) string {
		found, err := s.client.Resource(policySets).Namespace(home).Get(ctx, set, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, c := range conditions {
			if one, ok := c.(object); ok && one["type"] == "Ready" && one["status"] == "True" {
				return ""
			}
		}
		return fmt.Sprint(conditions)
	})
}

// idleNode makes a node that the traffic leaves alone.
func (s *stage) idleNode(name string) {
	s.t.Helper()
	s.must(s.client.Resource(nodes).Create(s.t.Context(), &unstructured.Unstructured{Object: object{
		"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"zone": "z0"}},
	}}, metav1.CreateOptions{}))
}
