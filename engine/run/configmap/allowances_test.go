package configmap

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
)

// TestReadAllowances: those of all ConfigMaps with the label, of one namespace.
func TestReadAllowances(t *testing.T) {
	t.Parallel()
	shown := func(namespace, name, label, allow string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{label: "true"}},
			Data:       map[string]string{"a.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec: {allow: [" + allow + "]}\n", "notes": "x"},
		}
	}
	const one = "{policy: p, kind: Node, fields: [delete]}"
	for name, tc := range map[string]struct {
		configMaps []*corev1.ConfigMap
		allowed    int
		known      bool
		problem    string
	}{
		"none":               {},
		"two":                {[]*corev1.ConfigMap{shown("ns", "a", v1alpha1.LabelAllowances, one), shown("ns", "b", v1alpha1.LabelAllowances, one+", "+one)}, 3, true, ""},
		"an empty list":      {[]*corev1.ConfigMap{shown("ns", "a", v1alpha1.LabelAllowances, "")}, 0, true, ""},
		"another label":      {configMaps: []*corev1.ConfigMap{shown("ns", "a", v1alpha1.LabelPolicy, one)}},
		"another namespace":  {configMaps: []*corev1.ConfigMap{shown("other", "a", v1alpha1.LabelAllowances, one)}},
		"one with a mistake": {configMaps: []*corev1.ConfigMap{shown("ns", "a", v1alpha1.LabelAllowances, "{plicy: p}")}, problem: "the allowances in the ConfigMap ns/a cannot be read: ns/a/a.yaml:4:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset()
			for _, m := range tc.configMaps {
				if err := client.Tracker().Add(m); err != nil {
					t.Fatal(err)
				}
			}
			allowed, known, err := ReadAllowances(t.Context(), client.CoreV1().ConfigMaps("ns"))
			if len(allowed) != tc.allowed || known != tc.known || (err == nil) != (tc.problem == "") {
				t.Errorf("%d allowances, known is %v, %v; want %d, %v and %q", len(allowed), known, err, tc.allowed, tc.known, tc.problem)
			}
			if err != nil && !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("%v, want %q", err, tc.problem)
			}
		})
	}
}
