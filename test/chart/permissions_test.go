package chart

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestPermissions: whatever is switched on and off, the accounts have what the policies need.
func TestPermissions(t *testing.T) {
	i := &installation{cluster: startCluster(t, controlplane.Options{ControllerManager: true})}
	i.namespace(namespace)
	i.namespace(agents)
	i.helm("install", release, chart, "--set", "policies.kmm-node-entries.enabled=false,policies.kmm-module-finalizer.enabled=false,policies.kmm-node-modules.enabled=false")
	few := []string{"agent-node-label", "storage-pool-eligibility", "replica-scheduling", "kmm-version-labels", "configmap-restart"}
	i.wantPermissions(few...)
	i.namespace("shipshape")
	i.upgrade("--reset-values", "--set", "policies.secret-restart.enabled=true")
	i.wantPermissions(shipped(t)...)
	i.helm("rollback", release, "1")
	i.gone("ConfigMap", release+"-secret-restart")
	// The first revision was made before shipshape was.
	i.wantPermissions(few[:len(few)-1]...)
}

// wantPermissions waits until the controller's account may read in every
// namespace exactly what the policies that are on need there, and each policy's
// account may do exactly what that policy needs.
func (i *installation) wantPermissions(policies ...string) {
	i.t.Helper()
	for _, policy := range policies {
		i.wantPolicyPermissions(policy)
	}
	for _, in := range []string{namespace, agents, "shipshape", "default"} {
		want := clusterRules
		for _, policy := range policies {
			want = join(want, i.derivedRules(in, policy, shared))
		}
		want = maps.Clone(want)
		if in == namespace {
			maps.Copy(want, ownRules)
			for _, policy := range i.installed() {
				want["impersonate /serviceaccounts "+release+"-policy-"+policy] = true
			}
		}
		// The API server hears of roles a moment after it has stored them.
		i.eventually("permissions in "+in+" (- want, + got)", func(context.Context) string {
			return cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(i.permissions(in))))
		})
	}
}

// installed returns the names of the sets.
func (i *installation) installed() (out []string) {
	i.t.Helper()
	list, err := i.sets("", namespace).List(i.t.Context(), metav1.ListOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	for _, one := range list.Items {
		out = append(out, one.GetName())
	}
	return out
}

// wantPolicyPermissions waits for those of the account that a set writes as.
func (i *installation) wantPolicyPermissions(set string) {
	i.t.Helper()
	for _, in := range []string{namespace, agents, "shipshape", "default"} {
		want := i.derivedRules(in, set, func(rbacv1.PolicyRule, string) bool { return true })
		i.eventually("permissions of "+set+" in "+in+" (- want, + got)", func(context.Context) string {
			config := rest.CopyConfig(i.plane.Config())
			config.Impersonate.UserName = "system:serviceaccount:" + namespace + ":" + release + "-policy-" + set
			got := i.rulesAs(config, in)
			for rule := range i.rulesOf("default", "default", in) {
				delete(got, rule)
			}
			return cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
		})
	}
}

// shared is what the controller does for all policies: it reads, and sends Events.
func shared(rule rbacv1.PolicyRule, verb string) bool {
	if slices.Equal(rule.Resources, []string{"events"}) {
		return true
	}
	return verb == "get" || verb == "list" || verb == "watch"
}

func join(a, b map[string]bool) map[string]bool {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// permissions are those of the controller's account in a namespace, without what
// every account has.
func (i *installation) permissions(in string) map[string]bool {
	i.t.Helper()
	all := i.rulesOf(namespace, release, in)
	for rule := range i.rulesOf("default", "default", in) {
		if !strings.HasPrefix(rule, "create authorization.k8s.io/selfsubjectaccessreviews") {
			delete(all, rule)
		}
	}
	return all
}

// rulesOf asks, as an account, what it may do in a namespace.
func (i *installation) rulesOf(home, account, in string) map[string]bool {
	i.t.Helper()
	token, err := i.client.CoreV1().ServiceAccounts(home).CreateToken(i.t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(i.plane.Config())
	config.BearerToken = token.Status.Token
	return i.rulesAs(config, in)
}

// rulesAs asks, as the user of a configuration, what it may do in a namespace.
func (i *installation) rulesAs(config *rest.Config, in string) map[string]bool {
	i.t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		i.t.Fatal(err)
	}
	review, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(i.t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: in}}, metav1.CreateOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	out := map[string]bool{}
	for _, rule := range review.Status.ResourceRules {
		flatten(out, rbacv1.PolicyRule{Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames})
	}
	return out
}

// flatten adds a line per verb, resource and name.
func flatten(out map[string]bool, rule rbacv1.PolicyRule) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range rule.Verbs {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					out[strings.TrimSpace(verb+" "+group+"/"+resource+" "+name)] = true
				}
			}
		}
	}
}

// derivedRules are those of a file of files/rbac that hold in a namespace, as far
// as a verb of theirs is wanted.
func (i *installation) derivedRules(in, policy string, wanted func(rule rbacv1.PolicyRule, verb string) bool) map[string]bool {
	i.t.Helper()
	var file struct {
		Rules      []rbacv1.PolicyRule `json:"rules"`
		Namespaced []struct {
			Namespace string              `json:"namespace"`
			Rules     []rbacv1.PolicyRule `json:"rules"`
		} `json:"namespaced"`
	}
	text := texts(i.t, filepath.Join(chart, "files", "rbac"))[policy+".yaml"]
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		i.t.Fatal(err)
	}
	rules := file.Rules
	for _, one := range file.Namespaced {
		if one.Namespace == in && i.exists(in) {
			rules = append(rules, one.Rules...)
		}
	}
	out := map[string]bool{}
	for _, rule := range rules {
		rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return !wanted(rule, verb) })
		flatten(out, rule)
	}
	return out
}

func (i *installation) exists(in string) bool {
	_, err := i.client.CoreV1().Namespaces().Get(i.t.Context(), in, metav1.GetOptions{})
	return err == nil
}

func lines(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		out[strings.TrimSpace(line)] = true
	}
	return out
}

// clusterRules hold everywhere, whatever the policies are.
var clusterRules = lines(`
create authorization.k8s.io/selfsubjectaccessreviews
get apiextensions.k8s.io/customresourcedefinitions
list apiextensions.k8s.io/customresourcedefinitions
watch apiextensions.k8s.io/customresourcedefinitions
get admissionregistration.k8s.io/validatingwebhookconfigurations edict-system-edict
list admissionregistration.k8s.io/validatingwebhookconfigurations edict-system-edict
watch admissionregistration.k8s.io/validatingwebhookconfigurations edict-system-edict
update admissionregistration.k8s.io/validatingwebhookconfigurations edict-system-edict
patch admissionregistration.k8s.io/validatingwebhookconfigurations edict-system-edict
get /namespaces
create authentication.k8s.io/tokenreviews
create authorization.k8s.io/subjectaccessreviews
`)

// ownRules hold in the namespace of the release.
var ownRules = lines(`
get edict.dev/policysets
list edict.dev/policysets
watch edict.dev/policysets
patch edict.dev/policysets
update edict.dev/policysets
get edict.dev/policysets/status
patch edict.dev/policysets/status
update edict.dev/policysets/status
update edict.dev/policysets/finalizers
get /configmaps
list /configmaps
watch /configmaps
get apps/controllerrevisions
list apps/controllerrevisions
watch apps/controllerrevisions
create apps/controllerrevisions
patch apps/controllerrevisions
delete apps/controllerrevisions
create /events
patch /events
list /events
create coordination.k8s.io/leases
get coordination.k8s.io/leases edict
update coordination.k8s.io/leases edict
patch coordination.k8s.io/leases edict
create /secrets
get /secrets edict-webhook
list /secrets edict-webhook
watch /secrets edict-webhook
update /secrets edict-webhook
patch /secrets edict-webhook
`)
