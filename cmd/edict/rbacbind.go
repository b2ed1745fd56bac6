package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/rbac"
)

// bindFlags say whom the permissions of policies are bound to.
type bindFlags struct {
	// namespace has the ServiceAccounts; "" binds nothing.
	namespace string
	// prefix begins the names of the policies' own, "" is none; controller is that of
	// the controller.
	prefix, controller string
}

func (f *bindFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.namespace, "bind", "", "print bindings, too, to the ServiceAccounts of this namespace")
	flags.StringVar(&f.prefix, "policy-service-accounts", identity.DefaultPrefix, "with --bind: what the name of a policy's ServiceAccount begins with, as for edict run; empty binds all to the controller's")
	flags.StringVar(&f.controller, "service-account", "edict", "with --bind: the ServiceAccount of the controller")
}

// roles gives each policy roles of its own with their bindings.
func (f *bindFlags) roles(name string, permissions []rbac.Permission) (out []role) {
	for _, policy := range policiesOf(permissions) {
		mine := slices.DeleteFunc(slices.Clone(permissions), func(p rbac.Permission) bool { return p.Policy != policy })
		for _, r := range roles(name+"-"+strings.ReplaceAll(policy, "/", "-"), mine) {
			if len(r.rules) > 0 {
				out = append(out, f.bound(r, policy)...)
			}
		}
	}
	return out
}

func policiesOf(permissions []rbac.Permission) (out []string) {
	for _, p := range permissions {
		out = append(out, p.Policy)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bound binds a role to the ServiceAccount of its policy, and what of it the
// controller needs to that of the controller.
func (f *bindFlags) bound(r role, policy string) []role {
	controller := &account{namespace: f.namespace, name: f.controller}
	set, name := identity.ParsePolicyID(policy)
	r.policy = strings.ReplaceAll(policy, "/", "-")
	if f.prefix == "" {
		r.account = controller
		return []role{r}
	}
	r.account = &account{namespace: f.namespace, name: f.prefix + cmp.Or(set, name)}
	reads := r
	reads.name, reads.account, reads.rules = r.name+":reads", controller, shared(r.rules)
	if len(reads.rules) == 0 {
		return []role{r}
	}
	return []role{r, reads}
}

// impersonation lets the controller write as the ServiceAccount of a set.
func (f *bindFlags) impersonation(set string) role {
	rule := rbac.Rule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{f.prefix + set}, Verbs: []string{"impersonate"}, Policies: []string{set}}
	return role{name: "edict-" + set + ":impersonate", namespace: f.namespace, rules: []rbac.Rule{rule}, account: &account{namespace: f.namespace, name: f.controller}, policy: set}
}

// shared returns of some rules those that the controller itself needs: it reads for all
// policies, and sends their Events.
func shared(rules []rbac.Rule) (out []rbac.Rule) {
	for _, rule := range rules {
		wanted := []string{"get", "list", "watch"}
		if slices.Equal(rule.Resources, []string{"events"}) {
			wanted = append(wanted, "create", "patch")
		}
		verbs := rule.Verbs
		rule.Verbs = nil
		for _, verb := range wanted {
			if slices.Contains(verbs, verb) || slices.Contains(verbs, "*") {
				rule.Verbs = append(rule.Verbs, verb)
			}
		}
		if len(rule.Verbs) > 0 {
			out = append(out, rule)
		}
	}
	return out
}
