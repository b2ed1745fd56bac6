package requirements

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
)

// Missing are permissions that a policy needs and that are not granted.
type Missing struct {
	// Own are those of the user that the policy writes as.
	Own []rbac.Permission
	// Shared are those of this process, which reads for all policies, if policies write
	// as users of their own.
	Shared []rbac.Permission
}

// None reports whether nothing is missing.
func (m Missing) None() bool { return len(m.Own)+len(m.Shared) == 0 }

// Forbidden is an error about permissions that a policy lacks.
type Forbidden struct {
	Policy string
	// Namespace is where the policy's ConfigMap is; "" for one from a file.
	Namespace string
	// User is the one that the policy writes as; "" is the process. Prefix begins the names
	// of the ServiceAccounts of policies.
	User, Prefix string
	Missing      Missing
}

// Error implements error. It names what is missing as kubectl auth can-i takes
// it, and who lacks it.
func (f *Forbidden) Error() string {
	var lacking []string
	if rules := missingRules(f.Missing.Own); rules != "" {
		lacking = append(lacking, f.who()+": "+rules)
	}
	if rules := missingRules(f.Missing.Shared); rules != "" {
		lacking = append(lacking, " for the controller's own ServiceAccount, which reads for all policies: "+rules)
	}
	return "permissions are missing" + strings.Join(lacking, ";") + "; " + f.remedy()
}

// remedy names the command that prints what to apply. That of a policy in a ConfigMap
// prints bindings too: without them all roles have one name, which may be that of the
// controller's own.
func (f *Forbidden) remedy() string {
	if f.Namespace == "" {
		return fmt.Sprintf("edict rbac PATH --policy %s prints the rules to grant", f.Policy)
	}
	return fmt.Sprintf("edict rbac -n %s --policy %s --bind %s%s prints the roles and bindings to apply", f.Namespace, f.Policy, f.Namespace, f.accounts())
}

// accounts are the flags that name the ServiceAccounts, where they have other names than
// by default.
func (f *Forbidden) accounts() string {
	switch f.Prefix {
	case identity.DefaultPrefix:
		return ""
	case "":
		return " --policy-service-accounts="
	default: // that of the controller then probably has another name too
		return " --policy-service-accounts " + f.Prefix + " --service-account NAME"
	}
}

// who returns the user that the policy writes as, if that is not the process.
func (f *Forbidden) who() string {
	if f.User == "" {
		return ""
	}
	return " for " + f.User
}

// missingRules are permissions as text, by namespace; "" for none.
func missingRules(missing []rbac.Permission) string {
	places := map[string][]rbac.Permission{}
	for _, p := range missing {
		places[p.Namespace] = append(places[p.Namespace], p)
	}
	var parts []string
	for _, namespace := range slices.Sorted(maps.Keys(places)) {
		for _, rule := range rbac.Rules(places[namespace]) {
			parts = append(parts, missingRule(rule, namespace))
		}
	}
	return strings.Join(parts, "; ")
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

// reads are the verbs that a policy in Shadow mode needs.
var reads = []string{"get", "list", "watch"}

// forbidden returns an error about permissions that a policy lacks. If the API server
// does not answer there is none: what is not allowed then fails by itself.
func (c *Checker) forbidden(ctx context.Context, p *plan.Policy) error {
	missing, err := c.MissingPermissions(ctx, p)
	if err != nil && ctx.Err() == nil {
		c.log.Warn("the missing permissions are not known", observe.LogPolicy, p.ID(), "error", err.Error())
	}
	if missing.None() {
		return nil
	}
	return c.Forbidden(p, missing)
}

// MissingPermissions returns the permissions that a policy needs and that it, or this
// process for it, lacks. With an error it may be incomplete.
func (c *Checker) MissingPermissions(ctx context.Context, p *plan.Policy) (missing Missing, err error) {
	wanted, err := rbac.Of([]*plan.Policy{p}, plan.InForce, c.kinds.Resource)
	if err != nil {
		return Missing{}, nil //nolint:nilerr // a kind was just removed: its watch reports that
	}
	reading := slices.DeleteFunc(slices.Clone(wanted), func(w rbac.Permission) bool { return !slices.Contains(reads, w.Verb) })
	if p.Mode == plan.Shadow { // it writes nothing
		wanted = reading
	}
	user := c.accounts.User(p.ID())
	missing.Own, err = c.review(c.accounts.As(ctx, p.ID()), user, wanted)
	if user == "" {
		return missing, err
	}
	shared, failed := c.review(ctx, "", reading)
	missing.Shared = shared
	return missing, errors.Join(err, failed)
}

// review returns the permissions that the user of the context lacks.
func (c *Checker) review(ctx context.Context, user string, wanted []rbac.Permission) ([]rbac.Permission, error) {
	return c.granted.lacking(ctx, c.client.AuthorizationV1().SelfSubjectAccessReviews(), user, wanted)
}

// Forbidden returns the error about permissions that a policy lacks.
func (c *Checker) Forbidden(p *plan.Policy, missing Missing) *Forbidden {
	return &Forbidden{Policy: p.ID(), Namespace: c.namespace, User: c.accounts.User(p.ID()), Prefix: c.accounts.Prefix, Missing: missing}
}
