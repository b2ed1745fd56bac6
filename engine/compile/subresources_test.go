package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

const sized = `
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: %s, plural: %s}
  versions:
    - name: v1
      subresources: {%s}
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}, status: {type: object, properties: {size: {type: integer}, conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}, lastTransitionTime: {type: string}}}}}}}}}
`

// TestSubresources: what can be scaled and evicted, and how.
func TestSubresources(t *testing.T) {
	t.Parallel()
	schemas := schema.NewSet(schema.Builtin())
	for kind, subresource := range map[string]string{"Sized": "scale: {specReplicasPath: .spec.size}", "Fixed": "status: {}"} {
		text := strings.NewReplacer("kind: %s", "kind: "+kind, "plural: %s", "plural: "+strings.ToLower(kind)+"s", "{%s}", "{"+subresource+"}").Replace(sized)
		if err := schemas.AddCRD([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	const set = "of: {apiVersion: apps/v1, kind: StatefulSet, namespace: a, name: b}"
	custom := func(kind string) string {
		return "of: {apiVersion: example.com/v1, kind: " + kind + ", namespace: a, name: b}"
	}
	for name, tc := range map[string]struct{ action, wrong string }{
		"a built-in kind":              {"scale: {" + set + ", replicas: 3}", ""},
		"a built-in kind without":      {"scale: {of: {apiVersion: apps/v1, kind: DaemonSet, namespace: a, name: b}, replicas: 3}", "DaemonSet has no subresource scale"},
		"the primary object":           {"scale: {replicas: 3}", "Node has no subresource scale"},
		"another field of it":          {"scale: {" + set + ", replicas: 3, field: spec.size}", "the subresource scale of StatefulSet sets spec.replicas, not spec.size"},
		"a custom kind":                {"scale: {" + custom("Sized") + ", replicas: 3, field: spec.size}", ""},
		"a custom kind by the default": {"scale: {" + custom("Sized") + ", replicas: 3}", "the subresource scale of Sized sets spec.size, not spec.replicas"},
		"a custom kind without":        {"scale: {" + custom("Fixed") + ", replicas: 3}", "Fixed has no subresource scale"},
		"a status":                     {"patch: {" + custom("Fixed") + ", subresource: status, value: {status: {size: 1}}}", ""},
		"a status without":             {"patch: {" + custom("Sized") + ", subresource: status, value: {status: {size: 1}}}", "example.com/v1 Sized has no subresource status"},
		"a status of another object":   {"status: {of: x, phase: y}", `status has no field "of"; status writes that of the primary object; for another: patch: {of: x, subresource: status, value: {status: {...}}}`},
		"a condition without":          {"condition: {" + custom("Sized") + ", type: Ready, status: 'True', reason: R}", "example.com/v1 Sized has no subresource status"},
		"a status of an unknown kind":  {"patch: {" + custom("Other") + ", subresource: status, value: {status: {size: 1}}}", ""},
		"an unknown kind":              {"scale: {" + custom("Other") + ", replicas: 3}", ""},
		"no number":                    {"scale: {" + set + "}", "replicas"},
		"a text":                       {"scale: {" + set + ", replicas: key.name}", "this must give int, it gives string"},
		"a Pod":                        {"evict: {of: {apiVersion: v1, kind: Pod, namespace: a, name: b}, gracePeriod: 3s}", ""},
		"no Pod":                       {"evict: {of: {apiVersion: v1, kind: ConfigMap, namespace: a, name: b}}", "a ConfigMap cannot be evicted, only a Pod can"},
		"two actions in one":           {"{evict: {}, scale: {replicas: 3}}", "an action must say exactly one thing to do"},
		"a status of a built-in kind":  {"status: {phase: Running}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, problems := compiled(t, header+"  rules: [{name: r, do: ["+braced(tc.action)+"]}]\n", PolicyOptions{}, schemas)
			var wrong []string
			for _, one := range problems {
				if one.Severity == document.Error {
					wrong = append(wrong, one.Message, one.Hint)
				}
			}
			got := strings.Join(wrong, "; ")
			if tc.wrong == "" && (p == nil || got != "") || !strings.Contains(got, tc.wrong) {
				t.Errorf("got %q, want %q", got, tc.wrong)
			}
		})
	}
}

// TestStatusOfNoKind: the status of a kind that has none cannot be written.
func TestStatusOfNoKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"v1, kind: ConfigMap", "v1, kind: Secret", "rbac.authorization.k8s.io/v1, kind: Role", "coordination.k8s.io/v1, kind: Lease", "storage.k8s.io/v1, kind: StorageClass", "discovery.k8s.io/v1, kind: EndpointSlice"} {
		_, problems := compiled(t, strings.Replace(header, "v1, kind: Node", kind, 1)+"  rules: [{name: r, do: [{status: {phase: x}}]}]\n", PolicyOptions{})
		name := kind[strings.LastIndex(kind, " ")+1:]
		if err := document.Join(problems); err == nil || !strings.Contains(err.Error(), "a "+name+" has no status") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func braced(action string) string {
	if strings.HasPrefix(action, "{") {
		return action
	}
	return "{" + action + "}"
}
