package chart

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// wantPermissions waits until the controller's account may do in every
// namespace exactly what the policies that are on need there.
func (i *installation) wantPermissions(policies ...string) {
	i.t.Helper()
	for _, in := range []string{namespace, agents, "shipshape", "default"} {
		want := i.derivedRules(in, policies)
		if in == namespace {
			maps.Copy(want, ownRules)
		}
		// The API server hears of roles a moment after it has stored them.
		i.eventually("permissions in "+in+" (- want, + got)", func(context.Context) string {
			return cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(i.permissions(in))))
		})
	}
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

// derivedRules are those of files/rbac that hold in a namespace, and what holds
// everywhere.
func (i *installation) derivedRules(in string, policies []string) map[string]bool {
	i.t.Helper()
	out := maps.Clone(clusterRules)
	for name, text := range texts(i.t, filepath.Join(chart, "files", "rbac")) {
		if !slices.Contains(policies, strings.TrimSuffix(name, ".yaml")) {
			continue
		}
		var file struct {
			Rules      []rbacv1.PolicyRule `json:"rules"`
			Namespaced []struct {
				Namespace string              `json:"namespace"`
				Rules     []rbacv1.PolicyRule `json:"rules"`
			} `json:"namespaced"`
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			i.t.Fatal(err)
		}
		rules := file.Rules
		for _, one := range file.Namespaced {
			if one.Namespace == in && i.exists(in) {
				rules = append(rules, one.Rules...)
			}
		}
		for _, rule := range rules {
			flatten(out, rule)
		}
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
get admissionregistration.k8s.io/validatingwebhookconfigurations edict
list admissionregistration.k8s.io/validatingwebhookconfigurations edict
watch admissionregistration.k8s.io/validatingwebhookconfigurations edict
update admissionregistration.k8s.io/validatingwebhookconfigurations edict
patch admissionregistration.k8s.io/validatingwebhookconfigurations edict
get /namespaces
create authentication.k8s.io/tokenreviews
create authorization.k8s.io/subjectaccessreviews
`)

// ownRules hold in the namespace of the release.
var ownRules = lines(`
get /configmaps
list /configmaps
watch /configmaps
patch /configmaps
get apps/controllerrevisions
list apps/controllerrevisions
watch apps/controllerrevisions
create apps/controllerrevisions
patch apps/controllerrevisions
delete apps/controllerrevisions
create /events
patch /events
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
