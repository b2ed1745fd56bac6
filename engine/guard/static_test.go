package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

const header = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules:\n    - name: r\n"

// TestLacks: what a text needs of what is protected is known before it runs.
func TestLacks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rule string
		want []string
	}{
		"nothing":                 {"      do: [{patch: {of: {apiVersion: example.com/v1, kind: Widget, namespace: a, name: b}, value: {metadata: {labels: {a: b}}}}}]\n", nil},
		"a label of a Node":       {"      do: [{labels: {set: {a: b}}}]\n", []string{"Node metadata.labels.a"}},
		"a computed label":        {"      do: [{labels: {set: {\"example.com/${key.name}\": b}}}]\n", []string{"Node metadata.labels.example.com/${key.name}"}},
		"computed annotations":    {"      do: [{patch: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, value: {spec: {template: {metadata: {annotations: \"${object.metadata.annotations}\"}}}}}}]\n", []string{"Deployment spec.template.metadata.annotations.${object.metadata.annotations}"}},
		"behind a variable":       {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: \"${variables.v}\"}}]\n  variables: [{name: v, value: {hostNetwork: true, containers: [{name: c, env: [{name: e, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}]\n", []string{"Pod spec.containers.env", "Pod spec.containers.env.valueFrom.secretKeyRef", "Pod spec.hostNetwork"}},
		"behind two":              {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {containers: \"${variables.w}\"}}}]\n  variables: [{name: v, value: {name: c, image: i}}, {name: w, value: [\"${variables.v}\"]}]\n", []string{"Pod spec.containers", "Pod spec.containers.image"}},
		"behind a local":          {"      variables: [{name: l, value: {serviceAccountName: x}}]\n      do: [{patch: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, value: {spec: {template: {spec: \"${l}\"}}}}}]\n", []string{"Deployment spec.template.spec.serviceAccountName"}},
		"behind a collection":     {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {initContainers: \"${variables.c.filter(x, x.name != key.name)}\"}}}]\n  variables: [{name: c, forEach: object.spec.podCIDRs, as: i, value: {name: \"${i}\", image: x}}]\n", []string{"Pod spec.initContainers", "Pod spec.initContainers.image"}},
		"behind an item":          {"      forEach: variables.c\n      as: x\n      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: \"${x}\"}}]\n  variables: [{name: c, forEach: object.spec.podCIDRs, as: i, value: {serviceAccountName: \"${i}\"}}]\n", []string{"Pod spec.serviceAccountName"}},
		"behind a choice":         {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: \"${key.name == 'a' ? variables.v : {'hostPID': true}}\"}}]\n  variables: [{name: v, value: {hostNetwork: true}}]\n", []string{"Pod spec.hostNetwork", "Pod spec.hostPID"}},
		"behind an expression":    {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {containers: \"${object.spec.podCIDRs.map(c, {'name': c, 'image': c})}\"}}}]\n", []string{"Pod spec.containers", "Pod spec.containers.image"}},
		"labels in a variable":    {"      do: [{patch: {value: {metadata: {labels: \"${variables.v}\"}}}}]\n  variables: [{name: v, value: {a: b, example.com/c: d}}]\n", []string{"Node metadata.labels.a", "Node metadata.labels.example.com/c"}},
		"its own mark":            {"      when: {held: \"true\", for: 5m}\n      do: [{event: {reason: R, message: m}}]\n", nil},
		"a finalizer":             {"      do: [{finalizer: {name: example.com/x}}]\n", []string{"Node metadata.finalizers"}},
		"in a case":               {"      cases: [{name: c, do: [{finalizer: {name: example.com/x}}]}]\n", []string{"Node metadata.finalizers"}},
		"deleting":                {"      do: [{delete: {}}]\n", []string{"Node delete"}},
		"scaling":                 {"      do: [{scale: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, replicas: 1}}]\n", []string{"Deployment scale"}},
		"evicting":                {"      forEach: inputs.pods\n      do: [{evict: {of: item}}]\n  inputs: [{name: pods, apiVersion: v1, kind: Pod}]\n", []string{"Pod evict"}},
		"approving":               {"      do: [{approve: {of: {apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, name: b}, signer: example.com/*}}]\n", []string{"CertificateSigningRequest approve:example.com/*"}},
		"a protected kind":        {"      do: [{apply: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}}]\n", []string{"Secret create"}},
		"for the cluster":         {"      do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: b}}}]\n", []string{"ConfigMap create"}},
		"a field for the cluster": {"      do: [{patch: {of: {apiVersion: v1, kind: ConfigMap, namespace: kube-system, name: b}, value: {data: {a: \"${key.name}\"}}}}]\n", []string{"ConfigMap data.a"}},
		"the root of trust":       {"      do: [{patch: {of: {apiVersion: v1, kind: ConfigMap, namespace: a, name: kube-root-ca.crt}, value: {data: {a: b}}}}]\n", []string{"ConfigMap data.a"}},
		"a field of another":      {"      do: [{patch: {of: {apiVersion: v1, kind: ConfigMap, namespace: \"${key.name}\", name: b}, value: {data: {a: b}}}}]\n", nil},
		"in the own place":        {"      do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: home, name: b}}}]\n", []string{"ConfigMap *"}},
		"an owner":                {"      do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: \"${key.name}\", ownerReferences: [{apiVersion: v1, kind: Node, name: \"${key.name}\", uid: u}]}}}]\n", []string{"ConfigMap metadata.ownerReferences"}},
		"in a list":               {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {containers: [{name: c, image: \"${key.name}\", securityContext: {privileged: true}}]}}}]\n", []string{"Pod spec.containers.image", "Pod spec.containers.securityContext"}},
		"what is opened":          {"      do: [{apply: {apiVersion: v1, kind: ServiceAccount, metadata: {namespace: a, name: b}}}]\n", nil},
		"of what is not one":      {"      do: [{patch: {of: item, value: {spec: {activeDeadlineSeconds: 1}}}}]\n      forEach: inputs.pods\n  inputs: [{name: pods, apiVersion: v1, kind: Pod}]\n", []string{"Pod spec.activeDeadlineSeconds"}},
		"what stops others":       {"      do: [{patch: {value: {spec: {unschedulable: true}}}}]\n", []string{"Node spec.unschedulable"}},
		"how many Pods run":       {"      do: [{patch: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, value: {spec: {replicas: 0}}}}]\n", []string{"Deployment scale"}},
		"of its own":              {"      do: [{apply: {apiVersion: v1, kind: Service, metadata: {namespace: a, name: \"${key.name}\"}, spec: {selector: {a: b}}}}]\n", nil},
		"of one that it takes":    {"      do: [{apply: {apiVersion: v1, kind: Service, metadata: {namespace: a, name: \"${key.name}\"}, spec: {selector: {a: b}}}, ifExists: take}]\n", []string{"Service spec.selector"}},
		"all labels go":           {"      do: [{patch: {value: {metadata: {labels: null}}}}]\n", []string{"Node metadata.labels"}},
		"all go, with another":    {"      do: [{patch: {value: {metadata: {annotations: null, labels: {a: \"${key.name}\"}}}}}]\n", []string{"Node metadata.labels.a", "Node metadata.annotations"}},
		"one label goes":          {"      do: [{patch: {value: {metadata: {labels: {a: null}}}}}]\n", []string{"Node metadata.labels.a"}},
		"null in a manifest":      {"      do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: b, labels: null}}}]\n", nil},
		"of an item":              {"      forEach: inputs.pods\n      do: [{patch: {of: item, value: {spec: {activeDeadlineSeconds: 1, serviceAccountName: x}}}}]\n  inputs: [{name: pods, apiVersion: v1, kind: Pod}]\n", []string{"Pod spec.activeDeadlineSeconds", "Pod spec.serviceAccountName"}},
		"of an item that is off":  {"      forEach: inputs.pods\n      do: [{patch: {of: item, value: {spec: {serviceAccountName: x}}}}]\n  inputs: [{name: pods, apiVersion: v1, kind: Pod, when: \"false\"}]\n", nil},
		"in a selection":          {"      do: [{select: {candidates: [{as: pod, in: inputs.pods}], summary: a, pipeline: [], then: [{patch: {of: pod, value: {spec: {serviceAccountName: x}}}}], otherwise: [{patch: {value: {spec: {providerID: x}}}}]}}]\n  inputs: [{name: pods, apiVersion: v1, kind: Pod}]\n", []string{"Pod spec.serviceAccountName", "Node spec.providerID"}},
		"of an input that is off": {"      forEach: inputs.gone\n      do: [{finalizer: {of: item, name: example.com/x}}]\n  inputs: [{name: gone, apiVersion: v1, kind: Pod, when: \"false\"}]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "p.yaml")
			if err := os.WriteFile(path, []byte(header+tc.rule), 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := source.Load([]string{path}, source.Options{})
			if err != nil || b.Err() != nil {
				t.Fatal(err, b.Err())
			}
			g := guard.Guard{Home: "home", Allowed: []guard.Allowance{{Policy: "p", Kind: "ServiceAccount", Field: "*"}}}
			var got []string
			for _, l := range g.Lacks(b.Policies[0]) {
				got = append(got, l.Kind+" "+l.Field)
				if l.Problem().Line == 0 || l.Problem().Hint == "" {
					t.Errorf("%+v has no place or says not what to add", l.Problem())
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestPlacesOfLacks: what is lacking is reported at the first action that needs it.
func TestPlacesOfLacks(t *testing.T) {
	t.Parallel()
	const rules = `      do: [{log: {message: a}}]
    - name: second
      do:
        - delete: {}
        - scale: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, replicas: 1}
        - evict: {of: "inputs.pods[0]"}
        - approve: {of: {apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, name: b}, signer: example.com/a}
        - select: {candidates: [{as: pod, in: inputs.pods}], summary: a, pipeline: [], then: [{delete: {of: pod}}]}
        - create: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}
  inputs: [{name: pods, apiVersion: v1, kind: Pod}]
`
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(header+rules), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	lines := strings.Split(header+rules, "\n")
	for _, l := range (&guard.Guard{}).Lacks(b.Policies[0]) {
		field, _, _ := strings.Cut(l.Field, ":")
		if line := lines[l.Line-1]; !strings.Contains(line, field) {
			t.Errorf("%s of %s is reported at %q", l.Field, l.Kind, line)
		}
	}
}

// TestShippedAllowances: all that edict allowances prints for the shipped policies, in force and
// for workloads of all kinds, is in the allowances that are shipped; and these open no label and
// no annotation that no policy writes.
func TestShippedAllowances(t *testing.T) {
	t.Parallel()
	kinds := map[string]compile.Override{"kinds": {Text: "[Deployment, StatefulSet, DaemonSet]"}}
	b, err := source.Load([]string{"../../policies"}, source.Options{Params: compile.Overrides{"configmap-restart": kinds, "secret-restart": kinds}})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	g := guard.New(b.Allowances)
	unused := g.Allowed
	for _, p := range b.Policies {
		p.Mode = plan.Enforce
		for _, l := range g.Lacks(p) {
			t.Error(l.Problem().Error())
		}
		all := (&guard.Guard{}).Lacks(p)
		unused = slices.DeleteFunc(slices.Clone(unused), func(a guard.Allowance) bool {
			return !strings.Contains(a.Field, "metadata.labels.") && !strings.Contains(a.Field, "metadata.annotations.") || len((&guard.Guard{Allowed: []guard.Allowance{a}}).Lacks(p)) < len(all)
		})
	}
	for _, a := range unused {
		t.Errorf("%s is allowed %s of %s, which it does not write", a.Policy, a.Field, a.Kind)
	}
}

// TestProblems: what lacks of one kind is one error, with one document to add.
func TestProblems(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.yaml")
	rule := "      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {hostPID: true, containers: [{name: c, image: x}]}}}, {finalizer: {name: example.com/x}}]\n"
	if err := os.WriteFile(path, []byte(header+rule), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	var got []string
	for _, p := range guard.Problems((&guard.Guard{}).Lacks(b.Policies[0])) {
		got = append(got, p.Message+" | "+p.Hint)
	}
	const add = "add to spec.allow of the PolicySet, or to a file of --allowances: "
	want := []string{
		"the policy p may not write metadata.finalizers of Node; the installation can allow it | " + add + `{policy: p, apiGroup: "", kind: Node, fields: ["metadata.finalizers"]}`,
		"the policy p may not write spec.containers.image of Pod; the installation can allow it (and spec.hostPID) | " + add + `{policy: p, apiGroup: "", kind: Pod, fields: ["spec.containers.image", "spec.hostPID"]}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
