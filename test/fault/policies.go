package fault

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// policy puts policies into a ConfigMap of their own, or replaces those in it.
func (s *stage) policy(name, text string) {
	s.t.Helper()
	s.added.Add(1)
	api := s.client.Resource(configMaps).Namespace(home)
	o := &unstructured.Unstructured{Object: object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": home, "labels": object{"edict.dev/policy": "true"}},
		"data": object{name + ".yaml": text},
	}}
	_, err := api.Create(s.t.Context(), o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = api.Update(s.t.Context(), o, metav1.UpdateOptions{})
	}
	s.must(nil, err)
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

// note waits until the annotation of a policy's ConfigMap contains a text.
func (s *stage) note(policy, annotation, want string, within time.Duration) {
	s.t.Helper()
	s.eventually("the annotation "+annotation+" of "+policy, within, func(ctx context.Context) string {
		found, err := s.client.Resource(configMaps).Namespace(home).Get(ctx, policy, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if got := found.GetAnnotations()["edict.dev/"+annotation]; !strings.Contains(got, want) {
			return fmt.Sprintf("it is %q and lacks %q", got, want)
		}
		return ""
	})
}

// idleNode makes a node that the traffic leaves alone.
func (s *stage) idleNode(name string) {
	s.t.Helper()
	s.must(s.client.Resource(nodes).Create(s.t.Context(), &unstructured.Unstructured{Object: object{
		"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"zone": "z0"}},
	}}, metav1.CreateOptions{}))
}
