package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// accesses writes what a policy must be allowed to do, one kind and place a
// line, without what it watches of its primary.
func accesses(p *plan.Policy, s plan.Settings) string {
	var lines []string
	last := ""
	for _, a := range p.Accesses(s) {
		line := a.GVK.String()
		if a.Subresource != "" {
			line += "/" + a.Subresource
		}
		if a.Resource != "" {
			line = a.APIVersion + "/" + a.Resource
		}
		if a.Namespace != "" {
			line += " in " + a.Namespace
		}
		if a.Param != "" {
			line += "=" + a.Param
		}
		if a.Name != "" {
			line += " named " + a.Name
		}
		if line != last {
			lines = append(lines, line+":")
			last = line
		}
		lines[len(lines)-1] += " " + a.Verb
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "v1/Node: get list watch\n", "")
}

// action makes a policy about Nodes with one action.
func action(text string) string {
	return `
  params: {name: x, space: y, names: [z]}
  inputs:
    - {name: pods, apiVersion: v1, kind: Pod, namespace: params.space, where: item.spec.nodeName == key.name}
    - {name: map, apiVersion: v1, kind: ConfigMap, get: '{"namespace": "a", "name": key.name}'}
    - {name: one, apiVersion: v1, kind: ConfigMap, get: '{"namespace": "a", "name": "fixed"}'}
    - {name: other, apiVersion: v1, kind: ConfigMap, get: params.name}
    - {name: sets, apiVersion: apps/v1, kind: StatefulSet, when: 'params.name == "on"'}
  rules:
    - name: r
      do:
        - ` + text + "\n"
}

// inputsOnly is what the policies above watch besides Nodes.
const inputsOnly = "v1/ConfigMap: get list watch\nv1/Pod in y=space: get list watch"

// TestAccesses: what each action needs follows from what the writer sends.
func TestAccesses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ action, want string }{
		"labels": {"labels: {set: {a: b}}", "v1/Node: patch"},
		"a binding": {`apply: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: a, name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`,
			"rbac.authorization.k8s.io/v1/ClusterRole in a named view: bind\nrbac.authorization.k8s.io/v1/RoleBinding in a: create\nrbac.authorization.k8s.io/v1/RoleBinding in a named b: get list watch patch"},
		"a binding of a param's role": {`create: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "${params.name}"}}`,
			"rbac.authorization.k8s.io/v1/ClusterRole named x: bind\nrbac.authorization.k8s.io/v1/ClusterRoleBinding: create\nrbac.authorization.k8s.io/v1/ClusterRoleBinding named b: get list watch"},
		"a binding of a computed role": {`apply: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: a, name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "${key.name}"}}`,
			"rbac.authorization.k8s.io/v1/Role in a: bind\nrbac.authorization.k8s.io/v1/RoleBinding in a: create\nrbac.authorization.k8s.io/v1/RoleBinding in a named b: get list watch patch"},
		"a role": {`apply: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {namespace: a, name: b}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
			"rbac.authorization.k8s.io/v1/Role in a: create\nrbac.authorization.k8s.io/v1/Role in a named b: escalate get list watch patch"},
		"annotations":         {"annotations: {of: inputs.map, set: {a: b}}", "v1/ConfigMap: patch"},
		"annotations, named":  {"annotations: {of: {apiVersion: v1, kind: Secret, namespace: a, name: b}, set: {a: b}}", "v1/Secret in a named b: get list watch patch"},
		"a name of a param":   {`labels: {of: {apiVersion: v1, kind: Secret, namespace: "${params.space}", name: "${params.name}"}, set: {a: b}}`, "v1/Secret in y=space named x: get list watch patch"},
		"annotations of one":  {"annotations: {of: inputs.one, set: {a: b}}", "v1/ConfigMap in a named fixed: patch"},
		"labels of a param's": {"labels: {of: inputs.other, set: {a: b}}", "v1/ConfigMap named x: patch"},
		"status":              {"status: {phase: Running}", "v1/Node/status: patch"},
		"condition":           {`condition: {type: A, status: "True", reason: A, message: b}`, "v1/Node/status: patch"},
		"patch":               {"patch: {value: {spec: {unschedulable: true}}}", "v1/Node: patch"},
		"patch of status":     {"patch: {subresource: status, value: {status: {phase: Running}}}", "v1/Node/status: patch"},
		"patch that creates":  {"patch: {of: {apiVersion: v1, kind: Secret, namespace: a, name: b}, create: true, value: {type: c}}", "v1/Secret in a: create\nv1/Secret in a named b: get list watch patch"},
		"list entry":          {"patch: {list: spec.taints, by: {key: a}, entry: {effect: NoSchedule}}", "v1/Node: patch"},
		"list entry, created": {`patch: {of: {apiVersion: v1, kind: Secret, namespace: "${key.name}", name: b}, create: true, list: metadata.ownerReferences, by: {uid: a}, entry: {apiVersion: v1, kind: Node, name: c, blockOwnerDeletion: true}}`,
			"v1/Node/finalizers: update\nv1/Secret: create\nv1/Secret named b: get list watch patch"},
		"create":         {"create: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}", "v1/Secret in a: create\nv1/Secret in a named b: get list watch"},
		"apply":          {"apply: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}", "v1/Secret in a: create\nv1/Secret in a named b: get list watch patch"},
		"apply, cluster": {`apply: {apiVersion: v1, kind: Namespace, metadata: {name: "${key.name}"}}`, "v1/Namespace: create get list patch watch"},
		"delete":         {"delete: {of: inputs.map}", "v1/ConfigMap: delete"},
		"delete, named":  {"delete: {of: {apiVersion: v1, kind: Secret, namespace: a, name: b}}", "v1/Secret in a named b: get list watch delete"},
		"scale":          {"scale: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, replicas: 1}", "apps/v1/Deployment in a named b: get list watch\napps/v1/Deployment/scale in a named b: patch"},
		"evict":          {"evict: {of: {apiVersion: v1, kind: Pod, namespace: a, name: b}}", "v1/Event in a: create patch\nv1/Pod in a named b: get list watch\nv1/Pod/eviction in a: create"},
		"approve": {`approve: {of: {apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, name: b}, signer: "example.com/*"}`,
			"certificates.k8s.io/v1/CertificateSigningRequest named b: get list watch\ncertificates.k8s.io/v1/CertificateSigningRequest/approval named b: patch\ncertificates.k8s.io/v1/signers named example.com/*: approve"},
		"finalizer":          {"finalizer: {name: example.com/a}", "v1/Node: patch"},
		"remember":           {"remember: {name: a, value: b}", ""},
		"log":                {"log: {message: a}", ""},
		"fail":               {"fail: a", ""},
		"event":              {"event: {reason: A, message: b}", "v1/Event: create patch"},
		"event in one place": {`event: {of: {apiVersion: v1, kind: Secret, namespace: "${params.space}", name: b}, reason: A, message: b}`, "v1/Event in y=space: create patch\nv1/Secret in y=space named b: get list watch"},
		"owner that is held": {`create: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b, ownerReferences: [{apiVersion: v1, kind: Node, name: c, uid: u, blockOwnerDeletion: true}]}}`,
			"v1/Node/finalizers in a: update\nv1/Secret in a: create\nv1/Secret in a named b: get list watch"},
		"owner that is not": {`patch: {value: {metadata: {ownerReferences: [{apiVersion: v1, kind: Secret, name: c, uid: u, blockOwnerDeletion: false}]}}}`, "v1/Node: patch"},
		"select": {`select: {candidates: [{as: pod, in: inputs.pods}], summary: a, pipeline: [], then: [{labels: {of: pod, set: {a: b}}}], otherwise: [{labels: {set: {a: b}}}]}`,
			"v1/Node: patch\nv1/Pod in y=space: patch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := accesses(spec(t, action(tc.action)), plan.InForce)
			if diff := cmp.Diff(merged(inputsOnly, tc.want), merged(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// merged returns the verbs of every place.
func merged(texts ...string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for line := range strings.SplitSeq(strings.Join(texts, "\n"), "\n") {
		place, verbs, _ := strings.Cut(line, ":")
		if place == "" {
			continue
		}
		if out[place] == nil {
			out[place] = map[string]bool{}
		}
		for verb := range strings.FieldsSeq(verbs) {
			out[place][verb] = true
		}
	}
	for _, verb := range []string{"get", "list", "watch"} {
		if out["v1/Node"] == nil {
			out["v1/Node"] = map[string]bool{}
		}
		out["v1/Node"][verb] = true
	}
	return out
}

// TestAccessesOfAnySetting: whoever grants permissions once must not have to
// come back when a param is set.
func TestAccessesOfAnySetting(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, inForce, any string }{
		"an input that is off": {
			"  inputs: [{name: sets, apiVersion: apps/v1, kind: StatefulSet, when: 'false'}]\n  rules: [{name: r, forEach: inputs.sets, do: [{annotations: {of: item, set: {a: b}}}]}]\n",
			"", "apps/v1/StatefulSet: get list patch watch",
		},
		"a name that is a param": {
			"  params: {x: a}\n  rules: [{name: r, do: [{delete: {of: {apiVersion: v1, kind: Pod, namespace: b, name: '${params.x}'}}}]}]\n",
			"v1/Pod in b named a: get list watch delete", "v1/Pod in b: get list watch delete",
		},
		"a namespace that is a param": {
			"  params: {x: a}\n  inputs: [{name: pods, apiVersion: v1, kind: Pod, namespace: params.x}]\n",
			"v1/Pod in a=x: get list watch", "v1/Pod in a=x: get list watch",
		},
		"a namespace that is computed": {
			"  params: {x: a}\n  inputs: [{name: pods, apiVersion: v1, kind: Pod, namespace: 'params.x + \"b\"'}]\n",
			"v1/Pod in ab: get list watch", "v1/Pod: get list watch",
		},
		"an object that get names": {
			"  params: {x: a}\n  inputs:\n    - {name: one, apiVersion: v1, kind: Secret, get: '{\"namespace\": \"b\", \"name\": params.x}'}\n    - {name: two, apiVersion: v1, kind: Secret, get: '{\"namespace\": \"b\", \"name\": \"c\"}'}\n",
			"v1/Secret in b named a: get list watch\nv1/Secret in b named c: get list watch", "v1/Secret: get list watch",
		},
		"an object among those that are watched anyhow": {
			"  inputs:\n    - {name: one, apiVersion: v1, kind: Secret, get: '{\"namespace\": \"b\", \"name\": \"c\"}'}\n    - {name: all, apiVersion: v1, kind: Secret, get: key.name}\n",
			"v1/Secret: get list watch", "v1/Secret: get list watch",
		},
		"an object beside an input that is off": {
			"  inputs: [{name: all, apiVersion: v1, kind: Secret, when: 'false'}]\n  rules: [{name: r, do: [{delete: {of: {apiVersion: v1, kind: Secret, namespace: b, name: a}}}]}]\n",
			"v1/Secret in b named a: get list watch delete", "v1/Secret: get list watch\nv1/Secret in b named a: delete",
		},
		"a namespace that is written out": {
			"  inputs: [{name: pods, apiVersion: v1, kind: Pod, namespace: '\"a\"'}]\n",
			"v1/Pod in a: get list watch", "v1/Pod in a: get list watch",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := spec(t, tc.text)
			for settings, want := range map[plan.Settings]string{plan.InForce: tc.inForce, plan.Any: tc.any} {
				if diff := cmp.Diff(merged(want), merged(accesses(p, settings))); diff != "" {
					t.Errorf("settings %d, -want +got:\n%s", settings, diff)
				}
			}
		})
	}
}

// TestShadowNeedsNoWrites: a policy that only looks on writes nothing, until
// another mode is set.
func TestShadowNeedsNoWrites(t *testing.T) {
	t.Parallel()
	p := spec(t, "  mode: Shadow\n  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n")
	for settings, want := range map[plan.Settings]string{plan.InForce: "", plan.Any: "v1/Node: get list watch patch"} {
		if diff := cmp.Diff(merged(want), merged(accesses(p, settings))); diff != "" {
			t.Errorf("settings %d, -want +got:\n%s", settings, diff)
		}
	}
}

// TestWithin: a primary may be narrowed to one namespace in three ways.
func TestWithin(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  params: {one: a, many: [a]}\n  for: {apiVersion: v1, kind: Pod, namespaces: "
	for namespaces, want := range map[string]analyze.ParamValue{
		"[a]":                     {Value: "a"},
		`["${params.one}"]`:       {Value: "a", Param: "one"},
		`["${params.one + 'b'}"]`: {Value: "ab", Computed: true},
		`"${params.many}"`:        {Value: "a", Computed: true},
		`["${params.one}", b]`:    {},
	} {
		p, problems := compiled(t, text+namespaces+"}\n", PolicyOptions{})
		if p == nil {
			t.Fatal(problems)
		}
		if diff := cmp.Diff(want, p.Primary.Within); diff != "" {
			t.Errorf("%s: %s", namespaces, diff)
		}
	}
}

// TestHolds: every finalizer that a policy sets is known, with its kind.
func TestHolds(t *testing.T) {
	t.Parallel()
	type hold struct {
		GVK       schema.GVK
		Finalizer analyze.ParamValue
	}
	p := spec(t, `
  params: {finalizer: example.com/a}
  inputs: [{name: pods, apiVersion: v1, kind: Pod}]
  rules:
    - name: r
      do:
        - finalizer: {name: "${params.finalizer}"}
        - finalizer: {name: example.com/gone, absent: true}
        - create: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b, finalizers: [example.com/b, "${key.name}/c"]}}
        - patch: {value: {metadata: {finalizers: "${object.metadata.finalizers}"}}}
    - name: s
      forEach: inputs.pods
      as: pod
      do:
        - finalizer: {of: pod, name: "${params.finalizer}.x"}
`)
	var got []hold
	for _, h := range p.FinalizerUses {
		got = append(got, hold{h.GVK, h.Finalizer})
	}
	node, secret := schema.GVK{APIVersion: "v1", Kind: "Node"}, schema.GVK{APIVersion: "v1", Kind: "Secret"}
	want := []hold{
		{node, analyze.ParamValue{Value: "example.com/a", Param: "finalizer"}},
		{secret, analyze.ParamValue{Value: "example.com/b"}},
		{secret, analyze.ParamValue{}},
		{node, analyze.ParamValue{}},
		{schema.GVK{APIVersion: "v1", Kind: "Pod"}, analyze.ParamValue{Value: "example.com/a.x", Computed: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
