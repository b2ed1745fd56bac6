package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
)

// Forbidden says which permissions a policy lacks.
type Forbidden struct {
	Policy string
	// Namespace is where the policy's ConfigMap is; "" for one from a file.
	Namespace string
	// User is the one that the policy writes as; "" is the process.
	User    string
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
	from := "PATH"
	if f.Namespace != "" {
		from = "--policy-namespace " + f.Namespace
	}
	return fmt.Sprintf("permissions are missing%s: %s; edict rbac %s --policy %s prints the rules to grant", f.whom(), strings.Join(parts, "; "), from, f.Policy)
}

// whom says who lacks them, if that is not the process.
func (f *Forbidden) whom() string {
	if f.User == "" {
		return ""
	}
	return " for " + f.User
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

// unmet says what keeps a policy from running: somebody whom it asks that is
// not there, a kind that the cluster does not serve, or a permission that this
// process lacks.
func (t *term) unmet(ctx context.Context, p *plan.Policy) error {
	if err := t.answered(p); err != nil && p.Mode != plan.Shadow { // a shadow asks nobody
		return err
	}
	if err := t.missing(p); err != nil {
		return err
	}
	if err := t.nowhere(ctx, p); err != nil {
		return err
	}
	return t.forbidden(ctx, p)
}

// nowhere says which namespace a policy names that does not exist, whatever this
// process may read elsewhere: an empty input would look like an answer. What
// cannot be looked at counts as there.
func (t *term) nowhere(ctx context.Context, p *plan.Policy) error {
	for _, namespace := range namespacesOf(p) {
		_, err := t.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the namespace %s does not exist: create it, or give another one to the param that names it", namespace)
		}
	}
	return nil
}

// namespacesOf returns the namespaces that a policy reads or writes and that are
// known from its text and its params.
func namespacesOf(p *plan.Policy) []string {
	all := map[string]bool{}
	for _, need := range reconcile.Needs(p) {
		all[need.Source.Namespace] = true
	}
	for _, w := range p.Writes {
		off := slices.ContainsFunc(p.Inputs, func(in *plan.Input) bool { return in.Name == w.Scope.Input && in.Off })
		if w.Verb != analyze.WriteEvent && w.Verb != analyze.WriteUpdate && !off {
			all[w.Scope.Namespace.Value] = true
		}
	}
	delete(all, "")
	return sortedKeys(all)
}

// reads are the verbs of whoever only looks on.
var reads = []string{"get", "list", "watch"}

// forbidden asks the API server whether this process may do all that a policy
// needs. No answer is no refusal: what is not allowed then fails by itself.
func (t *term) forbidden(ctx context.Context, p *plan.Policy) error {
	missing, err := t.ask(ctx, p)
	if err != nil && ctx.Err() == nil {
		t.Log.Warn("it cannot be told which permissions are missing", observe.LogPolicy, p.Name, "error", err.Error())
	}
	if len(missing) == 0 {
		return nil
	}
	return &Forbidden{Policy: p.Name, Namespace: t.PolicyNamespace, User: t.accounts().User(p.Name), Missing: missing}
}

// ask returns the permissions that a policy needs and this process lacks. The
// error says that not all of it is known.
func (t *term) ask(ctx context.Context, p *plan.Policy) (missing []rbac.Permission, err error) {
	wanted, err := rbac.Of([]*plan.Policy{p}, plan.InForce, func(gvk schema.GVK) (schema.Resource, bool) { return ResourceOf(t.mapper, gvk) })
	if err != nil {
		return nil, nil //nolint:nilerr // a kind has just gone: the watch says so
	}
	if p.Mode == plan.Shadow { // it writes nothing
		wanted = slices.DeleteFunc(wanted, func(w rbac.Permission) bool { return !slices.Contains(reads, w.Verb) })
	}
	own, err := t.asks(t.accounts().As(ctx, p.Name), t.accounts().User(p.Name), wanted)
	if t.accounts().User(p.Name) == "" || err != nil {
		return own, err
	}
	// What is read, this process reads for all policies.
	shared, err := t.asks(ctx, "", slices.DeleteFunc(wanted, func(w rbac.Permission) bool { return !slices.Contains(reads, w.Verb) }))
	return append(own, shared...), err
}

// asks returns the permissions that a user lacks, as whom the context asks.
func (t *term) asks(ctx context.Context, user string, wanted []rbac.Permission) ([]rbac.Permission, error) {
	return t.granted.lacking(ctx, t.client.AuthorizationV1().SelfSubjectAccessReviews(), user, wanted)
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
