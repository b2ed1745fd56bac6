package rbac

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

func lines(rules []Rule) (out []string) {
	for _, r := range rules {
		out = append(out, strings.Join(r.Policies, "+")+" "+r.String())
	}
	return out
}

// TestRules: what is joined allows nothing that was not asked for.
func TestRules(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		given []Permission
		want  []string
	}{
		"nothing": {nil, nil},
		"the verbs of a resource": {
			[]Permission{{Policy: "a", Resource: "pods", Verb: "watch"}, {Policy: "a", Resource: "pods", Verb: "get"}},
			[]string{`a {apiGroups: [""], resources: [pods], verbs: [get, watch]}`},
		},
		"resources of one group": {
			[]Permission{{Policy: "a", Group: "apps", Resource: "b", Verb: "get"}, {Policy: "a", Group: "apps", Resource: "a", Verb: "get"}, {Policy: "a", Resource: "a", Verb: "get"}},
			[]string{`a {apiGroups: [""], resources: [a], verbs: [get]}`, `a {apiGroups: [apps], resources: [a, b], verbs: [get]}`},
		},
		"different verbs of two resources": {
			[]Permission{{Policy: "a", Resource: "a", Verb: "get"}, {Policy: "a", Resource: "b", Verb: "get"}, {Policy: "a", Resource: "b", Verb: "patch"}},
			[]string{`a {apiGroups: [""], resources: [a], verbs: [get]}`, `a {apiGroups: [""], resources: [b], verbs: [get, patch]}`},
		},
		"different names of two resources": {
			[]Permission{{Policy: "a", Resource: "a", Verb: "get", Name: "x"}, {Policy: "a", Resource: "a", Verb: "get", Name: "on"}, {Policy: "a", Resource: "b", Verb: "get", Name: "x"}, {Policy: "a", Resource: "b", Verb: "get"}},
			[]string{`a {apiGroups: [""], resources: [a], verbs: [get], resourceNames: ["on", x]}`, `a {apiGroups: [""], resources: [b], verbs: [get]}`, `a {apiGroups: [""], resources: [b], verbs: [get], resourceNames: [x]}`},
		},
		"what different policies need": {
			[]Permission{{Policy: "a", Resource: "a", Verb: "get"}, {Policy: "b", Resource: "a", Verb: "get"}, {Policy: "b", Resource: "a", Verb: "patch"}},
			[]string{`a+b {apiGroups: [""], resources: [a], verbs: [get]}`, `b {apiGroups: [""], resources: [a], verbs: [patch]}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, lines(Rules(tc.given))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestOf: a kind of no namespace cannot be narrowed to one, and a kind that
// nobody knows is an error, never a guess.
func TestOf(t *testing.T) {
	t.Parallel()
	node, pod := schema.GVK{APIVersion: "v1", Kind: "Node"}, schema.GVK{APIVersion: "v1", Kind: "Pod"}
	at := analyze.Scope{Namespace: analyze.ParamValue{Value: "x", Param: "y"}}
	p := &plan.Policy{Name: "p", Primary: plan.Primary{GVK: pod, Within: at.Namespace}, Writes: []analyze.Write{
		{GVK: node, Subresource: "finalizers", Verb: analyze.WriteUpdate, Scope: at}, {GVK: pod, Verb: analyze.WriteDelete, Scope: at},
	}}
	got, err := Of([]*plan.Policy{p}, plan.InForce, schema.Builtin().Resource)
	if err != nil {
		t.Fatal(err)
	}
	want := []Permission{{Policy: "p", Resource: "nodes/finalizers", Verb: "update"}}
	for _, verb := range []string{"delete", "get", "list", "watch"} {
		want = append(want, Permission{Policy: "p", Namespace: "x", Param: "y", Resource: "pods", Verb: verb})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	csr := schema.GVK{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}
	p.Writes = []analyze.Write{{GVK: csr, Verb: analyze.WriteSigner, Scope: analyze.Scope{Name: analyze.ParamValue{Value: "example.com/*"}}}, {GVK: csr, Subresource: "approval", Verb: analyze.WriteApprove}}
	if got, err = Of([]*plan.Policy{p}, plan.Any, schema.Builtin().Resource); err != nil {
		t.Fatal(err)
	}
	rules := []string{
		`p {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}`, "p {apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval], verbs: [patch]}",
		`p {apiGroups: [certificates.k8s.io], resources: [signers], verbs: [approve], resourceNames: ["example.com/*"]}`,
	}
	if diff := cmp.Diff(rules, lines(Rules(got))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	p.Primary.GVK.APIVersion = "example.com/v1"
	_, err = Of([]*plan.Policy{p, p}, plan.InForce, schema.Builtin().Resource)
	if unknown, ok := errors.AsType[UnknownKinds](err); !ok || len(unknown) != 1 || !strings.Contains(err.Error(), "example.com/v1 Pod;") {
		t.Errorf("the error is %v", err)
	}
}
