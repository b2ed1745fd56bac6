package requirements

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestForbiddenSaysHowToMendIt: the text names verbs, resources, groups and
// namespaces, and where the rules come from.
func TestForbiddenSaysHowToMendIt(t *testing.T) {
	t.Parallel()
	err := &Forbidden{Policy: "p", Missing: Missing{Own: []rbac.Permission{
		{Policy: "p", Resource: "pods", Verb: "watch", Namespace: "demo"},
		{Policy: "p", Resource: "pods", Verb: "list", Namespace: "demo"},
		{Policy: "p", Group: "example.com", Resource: "widgets/status", Verb: "patch"},
		{Policy: "p", Resource: "configmaps", Verb: "delete", Namespace: "demo", Name: "one"},
	}}}
	want := "permissions are missing: patch on widgets.example.com/status; delete on configmaps named one in the namespace demo; " +
		"list, watch on pods in the namespace demo; edict rbac PATH --policy p prints the rules to grant"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	err.Namespace = "home"
	for prefix, flags := range map[string]string{
		"edict-policy-": "", "": " --policy-service-accounts=", "tool-policy-": " --policy-service-accounts tool-policy- --service-account NAME",
	} {
		err.Prefix = prefix
		if want := "; edict rbac -n home --policy p --bind home" + flags + " prints the roles and bindings to apply"; !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestWhoLacksPermissions: what is missing is said of the user that lacks it, and what a
// policy in Shadow mode would write is not missing.
func TestWhoLacksPermissions(t *testing.T) {
	t.Parallel()
	const policy, process = " for system:serviceaccount:home:edict-policy-m: ", " for the controller's own ServiceAccount, which reads for all policies: "
	for name, tc := range map[string]struct {
		prefix, mode string
		// refused are a user, "policy" or "process", and a verb.
		refused []string
		want    string // "" is nothing
	}{
		"nothing":               {"edict-policy-", "", nil, ""},
		"the policy":            {"edict-policy-", "", []string{"policy patch"}, policy + "patch on nodes"},
		"the process":           {"edict-policy-", "", []string{"process watch"}, process + "watch on nodes"},
		"both":                  {"edict-policy-", "", []string{"policy list", "process list", "process get"}, policy + "list on nodes;" + process + "get, list on nodes"},
		"what it does not need": {"edict-policy-", "", []string{"process patch"}, ""},
		"in the shadow":         {"edict-policy-", "  mode: Shadow\n", []string{"policy patch", "process get"}, process + "get on nodes"},
		"without users":         {"", "", []string{"process get", "process patch"}, ": get, patch on nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset()
			accounts := &identity.Accounts{Namespace: "home", Prefix: tc.prefix}
			c := New(Options{Client: impersonated{client, tc.refused}, Kinds: fixture.Kinds(), Accounts: accounts, Namespace: "home", Log: fixture.Log()})
			text := strings.Replace(fixture.Policy("p", "a"), "spec:\n", "spec:\n"+tc.mode, 1)
			p, problems, err := source.NewCompiler(nil, nil).Compile(t.Context(), fixture.Contents("m", map[string]string{"p.yaml": text}).Units[0], fixture.Kinds().Known())
			if p == nil {
				t.Fatal(problems, err)
			}
			got := ""
			if err := c.Unmet(t.Context(), p); err != nil {
				got = err.Error()
			}
			if tc.want != "" {
				tc.want = "permissions are missing" + tc.want + "; edict rbac -n home --policy m/p --bind home"
				if tc.prefix == "" {
					tc.want += " --policy-service-accounts="
				}
				tc.want += " prints the roles and bindings to apply"
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// impersonated answers reviews by who asks.
type impersonated struct {
	kubernetes.Interface
	refused []string
}

func (i impersonated) AuthorizationV1() authorization.AuthorizationV1Interface {
	return impersonatedReviews{i.Interface.AuthorizationV1(), i.refused}
}

type impersonatedReviews struct {
	authorization.AuthorizationV1Interface
	refused []string
}

func (i impersonatedReviews) SelfSubjectAccessReviews() authorization.SelfSubjectAccessReviewInterface {
	return &byUser{refused: i.refused}
}

type byUser struct {
	authorization.SelfSubjectAccessReviewInterface
	refused []string
}

func (b *byUser) Create(ctx context.Context, review *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	user := "process"
	if asUser(ctx) {
		user = "policy"
	}
	review.Status.Allowed = !slices.Contains(b.refused, user+" "+review.Spec.ResourceAttributes.Verb)
	return review, nil
}

// asUser reports whether requests of a context are those of a policy.
func asUser(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com", http.NoBody)
	if err != nil {
		return false
	}
	seen := &headers{}
	response, err := identity.Transport{RoundTripper: seen}.RoundTrip(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && seen.user != ""
}

type headers struct{ user string }

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	h.user = r.Header.Get(authenticationv1.ImpersonateUserHeader)
	return &http.Response{Body: http.NoBody}, nil
}

// reviews answers reviews: resources that begin with "no" are refused, those
// that begin with "broken" get no answer.
type reviews struct {
	authorization.SelfSubjectAccessReviewInterface
	mu    sync.Mutex
	asked int
}

func (r *reviews) Create(_ context.Context, review *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	resource := review.Spec.ResourceAttributes.Resource
	if strings.HasPrefix(resource, "broken") {
		return nil, errors.New("no answer")
	}
	review.Status.Allowed = !strings.HasPrefix(resource, "no") && (resource != "signers" || review.Spec.ResourceAttributes.Name == "example.com/*")
	return review, nil
}

// TestLacking: only what was refused is missing, not what nobody answered.
func TestLacking(t *testing.T) {
	t.Parallel()
	wanted := []rbac.Permission{
		{Resource: "yes", Verb: "get"}, {Resource: "no", Verb: "get"}, {Resource: "broken", Verb: "get"},
		{Resource: "no/finalizers", Verb: "update"}, {Resource: "no/status", Verb: "patch"},
		{Resource: "signers", Verb: "approve", Name: "example.com/*"},
	}
	for i := range 20 {
		wanted = append(wanted, rbac.Permission{Resource: fmt.Sprint("yes", i), Verb: "list"})
	}
	api, g := &reviews{}, &granted{}
	want := []rbac.Permission{{Resource: "no", Verb: "get"}, {Resource: "no/status", Verb: "patch"}}
	for round, asked := range []int{len(wanted) - 1, 3} { // what is given is not asked for again
		api.asked = 0
		missing, err := g.lacking(t.Context(), api, "", wanted)
		if diff := cmp.Diff(want, missing); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if err == nil || api.asked != asked {
			t.Errorf("round %d: %d were asked, not %d; the error is %v", round, api.asked, asked, err)
		}
	}
}

// TestRememberedPermissionsAreBounded: those that have expired are discarded, also if
// nobody asks for them again.
func TestRememberedPermissionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &granted{}
		for minute := range 20 {
			for i := range sweepFrom / 2 {
				g.keep("", rbac.Permission{Resource: "configmaps", Verb: "patch", Name: fmt.Sprint(minute, "-", i)})
			}
			if last := (rbac.Permission{Resource: "configmaps", Verb: "patch", Name: fmt.Sprint(minute, "-0")}); !g.has("", last) {
				t.Error("what was just granted is not remembered")
			}
			<-time.After(remembered)
		}
		if n := len(g.until); n > 2*sweepFrom {
			t.Errorf("%d permissions are kept", n)
		}
	})
}

// TestAMissingNamespace is waited for, whatever may be read elsewhere; what
// cannot be looked at is not.
func TestAMissingNamespace(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "there"}})
	c := New(Options{Client: client, Kinds: fixture.Kinds(), Log: fixture.Log()})
	reads := strings.Replace(fixture.Policy("p", "a"), "  rules:", "  inputs: [{name: nodes, apiVersion: v1, kind: Node}, {name: maps, apiVersion: v1, kind: ConfigMap, namespace: '\"NAMESPACE\"'}, {name: off, apiVersion: v1, kind: Pod, namespace: '\"nowhere\"', when: \"false\"}]\n  rules:", 1)
	writes := strings.Replace(fixture.Policy("p", "a"), "labels: {set:", "labels: {of: {apiVersion: v1, kind: ConfigMap, namespace: NAMESPACE, name: m}, set:", 1)
	for _, kind := range []string{reads, writes, strings.Replace(fixture.Policy("p", "a"), "kind: Node}", "kind: Pod, namespaces: [NAMESPACE]}", 1)} {
		for namespace, want := range map[string]string{"there": "", "lost": "the namespace lost does not exist"} {
			m := fixture.Contents("m", map[string]string{"p.yaml": strings.ReplaceAll(kind, "NAMESPACE", namespace)})
			compiled, problems, err := source.NewCompiler(nil, nil).Compile(t.Context(), m.Units[0], fixture.Kinds().Known())
			if compiled == nil {
				t.Fatal(problems, err)
			}
			got := c.missingNamespace(t.Context(), compiled)
			if want == "" && got != nil || want != "" && (got == nil || !strings.Contains(got.Error(), want)) {
				t.Errorf("%s: %v", namespace, got)
			}
		}
	}
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(kschema.GroupResource{Resource: "namespaces"}, "lost", nil)
	})
	compiled, _, _ := source.NewCompiler(nil, nil).Compile(t.Context(), fixture.Contents("m", map[string]string{"p.yaml": strings.ReplaceAll(reads, "NAMESPACE", "lost")}).Units[0], fixture.Kinds().Known())
	if err := c.missingNamespace(t.Context(), compiled); err != nil {
		t.Error(err)
	}
}

// TestSigners: a permission for all signers of a domain is one for each of them.
func TestSigners(t *testing.T) {
	t.Parallel()
	wanted := []rbac.Permission{
		{Resource: "signers", Verb: "approve", Name: "example.com/node"}, {Resource: "signers", Verb: "approve", Name: "example.org/node"},
		{Resource: "signers", Verb: "approve", Name: "example.org/*"},
	}
	missing, err := (&granted{}).lacking(t.Context(), &reviews{}, "u", wanted)
	if diff := cmp.Diff(wanted[1:], missing); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
}

// TestUnmetParams: a policy waits for the value of a required param, and is told which and how
// it is given; a default alone is none.
func TestUnmetParams(t *testing.T) {
	t.Parallel()
	text := `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  params: {image: {default: a, required: true}, other: {default: b, required: false}}
  rules: [{name: r, do: [{labels: {set: {a: "${params.image}${params.other}"}}}]}]
`
	for namespace, want := range map[string]string{
		"":     "no value is given for the param image; edict run --param p.image=VALUE gives it",
		"home": "ParamMissing: no value is given for the param image; kubectl -n home patch policyset s --type=merge -p '{\"spec\":{\"params\":{\"p\":{\"image\":VALUE}}}}' gives it, and so does the value params.p.image of the chart",
	} {
		p := fixture.Compiled(t, text).Policies[0]
		p.Set = "s"
		err := New(Options{Namespace: namespace}).Unmet(t.Context(), p)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", namespace, err, want)
		}
	}
	if err := fixture.CompiledWith(t, map[string]map[string]string{"p": {"image": "a"}}, text).Policies[0].Unset("home"); err != nil {
		t.Errorf("with the value of the default: %v", err)
	}
}
