package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/schema"
)

// Forbidden says which permissions a policy lacks.
type Forbidden struct {
	Policy  string
	Missing []rbac.Permission
}

// Error implements error. It names what is missing as kubectl auth can-i takes
// it.
func (f *Forbidden) Error() string {
	places := map[string][]rbac.Permission{}
	for _, p := range f.Missing {
		places[p.Namespace] = append(places[p.Namespace], p)
	}
	var parts []string
	for _, namespace := range sortedNamespaces(places) {
		for _, rule := range rbac.Rules(places[namespace]) {
			parts = append(parts, missingRule(rule, namespace))
		}
	}
	return fmt.Sprintf("permissions are missing: %s; edict rbac --policy %s prints the rules to grant", strings.Join(parts, "; "), f.Policy)
}

func sortedNamespaces(places map[string][]rbac.Permission) (out []string) {
	for namespace := range places {
		out = append(out, namespace)
	}
	slices.Sort(out)
	return out
}

func missingRule(r rbac.Rule, namespace string) string {
	resources := slices.Clone(r.Resources)
	for i, resource := range resources {
		name, sub, _ := strings.Cut(resource, "/")
		if r.APIGroups[0] != "" {
			name += "." + r.APIGroups[0]
		}
		resources[i] = strings.TrimSuffix(name+"/"+sub, "/")
	}
	text := strings.Join(r.Verbs, ", ") + " on " + strings.Join(resources, ", ")
	if len(r.ResourceNames) > 0 {
		text += " named " + strings.Join(r.ResourceNames, ", ")
	}
	if namespace != "" {
		text += " in the namespace " + namespace
	}
	return text
}

// unmet says what keeps a policy from running: a kind that the cluster does not
// serve, or a permission that this process lacks.
func (t *term) unmet(ctx context.Context, p *plan.Policy) error {
	if err := t.missing(p); err != nil {
		return err
	}
	return t.forbidden(ctx, p)
}

// forbidden asks the API server whether this process may do all that a policy
// needs. No answer is no refusal: what is not allowed then fails by itself.
func (t *term) forbidden(ctx context.Context, p *plan.Policy) error {
	client, err := authorization.NewForConfigAndClient(t.Config, t.http)
	if err != nil {
		return nil //nolint:nilerr // the configuration has served for other clients
	}
	wanted, err := rbac.Of([]*plan.Policy{p}, plan.InForce, func(gvk schema.GVK) (schema.Resource, bool) { return ResourceOf(t.mapper, gvk) })
	if err != nil {
		return nil //nolint:nilerr // a kind has just gone: the watch says so
	}
	missing, err := lacking(ctx, client.SelfSubjectAccessReviews(), wanted)
	if err != nil && ctx.Err() == nil {
		t.Log.Warn("it cannot be told which permissions are missing", observe.LogPolicy, p.Name, "error", err.Error())
	}
	if len(missing) == 0 {
		return nil
	}
	return &Forbidden{Policy: p.Name, Missing: missing}
}

// ResourceOf says how a cluster serves a kind.
func ResourceOf(mapper meta.RESTMapper, gvk schema.GVK) (schema.Resource, bool) {
	kind := groupVersionKind(gvk)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.Resource{}, false
	}
	return schema.Resource{Name: mapping.Resource.Resource, Namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}, true
}

// reviewsAtOnce bounds how many questions are under way for one policy.
const reviewsAtOnce = 8

// lacking gives the permissions that this process does not have, as far as the
// API server answers.
func lacking(ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, wanted []rbac.Permission) (missing []rbac.Permission, err error) {
	allowed, failed := make([]bool, len(wanted)), make([]error, len(wanted))
	slots := make(chan struct{}, reviewsAtOnce)
	var wg sync.WaitGroup
	for i, p := range wanted {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			allowed[i], failed[i] = may(ctx, reviews, p)
		})
	}
	wg.Wait()
	for i, p := range wanted {
		if failed[i] == nil && !allowed[i] {
			missing = append(missing, p)
		}
	}
	return missing, errors.Join(failed...)
}

// may asks for one permission. The one to block an owner's deletion counts as
// given: only some clusters ask for it, and nobody can say which.
func may(ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, p rbac.Permission) (bool, error) {
	resource, sub, _ := strings.Cut(p.Resource, "/")
	if p.Verb == string(plan.WriteUpdate) && sub == "finalizers" {
		return true, nil
	}
	got, err := reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.Namespace, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: sub, Name: p.Name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return got.Status.Allowed, nil
}
