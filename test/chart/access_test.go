package chart

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/test/controlplane"
)

// The accounts that try what they may do.
const (
	operator   = "operator"   // patch, create, delete
	authorizer = "authorizer" // and authorize
	controller = "system:serviceaccount:" + namespace + ":" + release
	remover    = "system:serviceaccount:" + namespace + ":" + release + "-release"
)

// guardedSpec is the spec of the sets of the test, without what differs.
const guardedSpec = `
source: {configMap: {name: a}, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
modes: {a: Disabled, b: Shadow}
params: {p: {x: 1}}
allow: [{policy: p, apiGroup: "", kind: Pod, fields: [spec.containers]}]
serviceAccountName: s
rollout: {steps: [{percent: 10}], interval: 10m}
`

// updates are changes of a PolicySet as merge patches, and what they need beside the verb patch:
// of a set that is not pinned, and of one that is.
var updates = map[string]struct{ plain, pinned bool }{
	`{"spec":{"suspend":true}}`: {},
	`{"spec":{"holds":[{"name":"h","reason":"r","until":"2026-12-01T08:00:00Z"}]}}`: {},
	`{"spec":{"resumedAt":"2026-12-01T08:00:00Z"}}`:                                 {},
	`{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`:                     {},
	`{"metadata":{"finalizers":["example.com/f"]}}`:                                 {},

	`{"spec":{"mode":"Disabled"}}`: {}, `{"spec":{"mode":"Shadow"}}`: {}, `{"spec":{"mode":null}}`: {},
	`{"spec":{"mode":"Enforce"}}`: {pinned: true},

	`{"spec":{"modes":{"b":"Disabled","c":"Disabled"}}}`: {},
	`{"spec":{"modes":{"c":"Enforce"}}}`:                 {}, // as without an entry
	`{"spec":{"modes":{"a":"Shadow"}}}`:                  {pinned: true},
	`{"spec":{"modes":{"b":"Enforce"}}}`:                 {pinned: true},
	`{"spec":{"modes":{"b":null}}}`:                      {pinned: true},
	`{"spec":{"modes":null}}`:                            {pinned: true},

	`{"spec":{"params":{"p":{"x":2}}}}`: {pinned: true}, `{"spec":{"params":null}}`: {pinned: true}, `{"spec":{"params":{"q":{"x":1}}}}`: {pinned: true},
	`{"spec":{"rollout":{"interval":"20m"}}}`: {pinned: true}, `{"spec":{"rollout":null}}`: {pinned: true},
	`{"spec":{"source":{"digest":"sha256:1111111111111111111111111111111111111111111111111111111111111111"}}}`: {pinned: true},

	`{"spec":{"source":{"configMap":{"name":"b"}}}}`:                                {true, true},
	`{"spec":{"allow":null}}`:                                                       {true, true},
	`{"spec":{"allow":[{"policy":"p","apiGroup":"","kind":"Pod","fields":["*"]}]}}`: {true, true},
	`{"spec":{"serviceAccountName":"t"}}`:                                           {true, true}, `{"spec":{"serviceAccountName":null}}`: {true, true},
	`{"spec":{"shadowOf":{"name":"b"}}}`: {true, true},
}

// TestWhoMayDoWhat tries every row of the table of rights with and without the right to
// authorize, while the webhook does not answer.
func TestWhoMayDoWhat(t *testing.T) {
	i := &installation{cluster: startCluster(t, controlplane.Options{ControllerManager: true})}
	i.namespace(namespace)
	i.helm("install", release, chart)
	i.accounts()
	for name, spec := range map[string]string{"plain": "mode: Shadow", "pinned": "{mode: Shadow, pinned: true}", "enforced": "{mode: Enforce, pinned: true}", "disabled": "{mode: Disabled, pinned: true}"} {
		if _, err := i.sets("", namespace).Create(t.Context(), guarded(t, name, spec), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	i.eventually("the policy for admission", func(context.Context) string {
		if err := i.create(operator, namespace); !apierrors.IsForbidden(err) {
			return fmt.Sprintf("an operator creates a set: %v", err)
		}
		return ""
	})

	for patch, needs := range updates {
		i.wantUpdate("plain", patch, needs.plain)
		i.wantUpdate("pinned", patch, needs.pinned)
	}
	i.wantUpdate("plain", `{"spec":{"pinned":true}}`, true)
	i.wantUpdate("pinned", `{"spec":{"pinned":false}}`, true)
	i.wantUpdate("plain", `{"spec":{"source":{"digest":null}}}`, false)
	i.wantUpdate("enforced", `{"spec":{"mode":"Shadow"}}`, false)
	i.wantUpdate("enforced", `{"spec":{"mode":null}}`, false)
	i.wantUpdate("disabled", `{"spec":{"mode":"Shadow"}}`, true)
	i.wantUpdate("disabled", `{"spec":{"mode":null}}`, true)

	for who, may := range map[string]bool{operator: false, authorizer: true} {
		i.wantErr(who+" creates a set", i.create(who, namespace), may)
		i.wantErr(who+" creates one elsewhere", i.create(who, "default"), true)
		i.wantErr(who+" deletes a set", i.remove(who, "plain"), true)
		i.wantErr(who+" deletes one that is pinned", i.remove(who, "pinned"), may)
		err := i.sets(who, namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: all}, metav1.ListOptions{FieldSelector: "metadata.name=pinned"})
		i.wantErr(who+" deletes all that are pinned", err, may)
	}
	i.wantErr("the Job before the removal deletes a set that is pinned", i.remove(remover, "pinned"), true)
	i.controllerMayNotMore()
	i.aggregated()

	i.namespaceGoes()
}

// namespaceGoes: a namespace that goes takes its sets with it, also those that are pinned. Who
// deletes them has no other right, and the control plane of the test more.
func (i *installation) namespaceGoes() {
	i.t.Helper()
	const who = "system:serviceaccount:kube-system:namespace-controller"
	finalizers := func(list string) {
		i.t.Helper()
		i.must(i.sets("", namespace).Patch(i.t.Context(), "pinned", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{}))
	}
	i.wantErr("the namespace controller deletes a set that is pinned", i.remove(who, "pinned"), false)
	finalizers(`["example.com/hold"]`)
	i.must(nil, i.client.CoreV1().Namespaces().Delete(i.t.Context(), namespace, metav1.DeleteOptions{}))
	i.eventually("the deletion of a set that is pinned", func(context.Context) string {
		if err := i.remove(who, "pinned"); err != nil {
			return err.Error()
		}
		return ""
	})
	i.eventually("the deletion of the set", func(context.Context) string {
		if i.set("pinned").GetDeletionTimestamp() == nil {
			return "it is not being deleted"
		}
		return ""
	})
	finalizers("null")
	i.eventually("the end of the namespace", func(ctx context.Context) string {
		found, err := i.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprint(err, found.Status)
	})
}

// controllerMayNotMore: the controller writes finalizers and the status, and nothing that says
// what policies do.
func (i *installation) controllerMayNotMore() {
	i.t.Helper()
	for patch, may := range map[string]bool{
		`{"metadata":{"finalizers":["edict.dev/f"]}}`: true, `{"metadata":{"labels":{"a":"b"}}}`: false, `{"metadata":{"annotations":{"a":"b"}}}`: false,
		`{"spec":{"suspend":true}}`: false, `{"spec":{"mode":"Enforce"}}`: false, `{"spec":{"params":null}}`: false,
	} {
		i.wantErr("the controller patches "+patch, i.patch(controller, "plain", patch), may)
	}
	i.wantErr("the controller patches the status", i.patch(controller, "pinned", `{"status":{"objects":1}}`, "status"), true)
	i.wantErr("the controller deletes a set", i.remove(controller, "plain"), false)
	i.wantErr("an operator patches the status", i.patch(operator, "plain", `{"status":{"objects":1}}`, "status"), false)
}

// aggregated: who may view a namespace sees its sets, who may edit or administer it does no more.
func (i *installation) aggregated() {
	i.t.Helper()
	for role, verbs := range map[string]map[string]bool{
		"view": {"get": true, "watch": true, "patch": false}, "edit": {"list": true, "patch": false, "update": false, "create": false, "delete": false, "authorize": false},
		"admin": {"get": true, "patch": false, "authorize": false},
	} {
		i.bind(role, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role})
		for verb, want := range verbs {
			i.eventually(role+" and "+verb, func(ctx context.Context) string {
				review, err := i.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: role, ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: v1alpha1.GroupVersion.Group, Resource: "policysets"},
				}}, metav1.CreateOptions{})
				if err != nil || review.Status.Allowed != want {
					return fmt.Sprintf("want %v, got %v %v", want, review.Status, err)
				}
				return ""
			})
		}
	}
}

// accounts makes the users of the test, with the roles of the chart.
func (i *installation) accounts() {
	i.t.Helper()
	roles := i.client.RbacV1()
	i.must(roles.ClusterRoles().Create(i.t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "creator"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"policysets"}, Verbs: []string{"create", "delete", "deletecollection"},
	}}}, metav1.CreateOptions{}))
	for user, names := range map[string][]string{
		operator:   {"creator", namespace + "-" + release + ":operate"},
		authorizer: {"creator", namespace + "-" + release + ":operate", namespace + "-" + release + ":authorize"},
	} {
		for _, name := range names {
			i.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name})
		}
	}
	i.must(roles.RoleBindings("default").Create(i.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "creators"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "creator"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: operator}, {Kind: "User", APIGroup: rbacv1.GroupName, Name: authorizer}},
	}, metav1.CreateOptions{}))
	// Helm makes the account of the Job when it removes the release.
	list := objects(i.t, template(i.t))
	for _, kind := range []string{"Role", "RoleBinding"} {
		one := find(list, kind, release+"-release")
		api, err := i.api(one)
		i.must(nil, err)
		i.must(api.Create(i.t.Context(), one, metav1.CreateOptions{}))
	}
}

func (i *installation) bind(user string, to rbacv1.RoleRef) {
	i.t.Helper()
	i.must(i.client.RbacV1().RoleBindings(namespace).Create(i.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: user}, RoleRef: to, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
	}, metav1.CreateOptions{}))
}

// all is a dry run: nothing is stored.
var all = []string{metav1.DryRunAll}

// sets is the API of PolicySets in a namespace, as a user; "" may do all.
func (i *installation) sets(user, in string) dynamic.ResourceInterface {
	i.t.Helper()
	config := rest.CopyConfig(i.plane.Config())
	config.Impersonate.UserName = user
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		i.t.Fatal(err)
	}
	return client.Resource(v1alpha1.GroupVersion.WithResource("policysets")).Namespace(in)
}

func guarded(t *testing.T, name, spec string) *object {
	t.Helper()
	fields := map[string]any{}
	for _, text := range []string{guardedSpec, spec} {
		if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
	}
	return &object{Object: map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "PolicySet", "metadata": map[string]any{"name": name}, "spec": fields}}
}

func (i *installation) create(who, in string) error {
	_, err := i.sets(who, in).Create(i.t.Context(), guarded(i.t, "new", "mode: Shadow"), metav1.CreateOptions{DryRun: all})
	return err
}

func (i *installation) remove(who, name string) error {
	return i.sets(who, namespace).Delete(i.t.Context(), name, metav1.DeleteOptions{DryRun: all})
}

func (i *installation) patch(who, name, patch string, subresource ...string) error {
	_, err := i.sets(who, namespace).Patch(i.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{DryRun: all}, subresource...)
	return err
}

// wantUpdate tries a change as an operator, who may do it unless it needs the right to
// authorize, and as somebody who has that right.
func (i *installation) wantUpdate(name, patch string, needs bool) {
	i.t.Helper()
	err := i.patch(operator, name, patch)
	i.wantErr("an operator patches "+name+" with "+patch, err, !needs)
	if needs && err != nil && !strings.Contains(err.Error(), "it needs the verb authorize on policysets.edict.dev") {
		i.t.Errorf("%s with %s: the error does not say what it needs: %v", name, patch, err)
	}
	i.wantErr("an authorizer patches "+name+" with "+patch, i.patch(authorizer, name, patch), true)
}

// wantErr wants something to be allowed, or to be forbidden.
func (i *installation) wantErr(what string, err error, may bool) {
	i.t.Helper()
	if may && err != nil || !may && !apierrors.IsForbidden(err) {
		i.t.Errorf("%s: want it to be allowed: %v, got %v", what, may, err)
	}
}
