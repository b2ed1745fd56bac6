package rbac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// Permission is one verb on a resource that a policy needs.
type Permission struct {
	Policy string
	// Namespace is the only one that is needed, Param the param that names it;
	// "" is all of the cluster.
	Namespace, Param string
	// Group and Resource are as in a rule: a subresource follows a slash.
	Group, Resource string
	Verb            string
	// Name is the only object that is meant; "" is all.
	Name string
}

// Resources says how kinds are served.
type Resources func(schema.GVK) (schema.Resource, bool)

// UnknownKinds says for which kinds nobody knows how they are served.
type UnknownKinds []schema.GVK

// Error implements error.
func (u UnknownKinds) Error() string {
	names := make([]string, len(u))
	for i, gvk := range u {
		names[i] = gvk.APIVersion + " " + gvk.Kind
	}
	return fmt.Sprintf("it is not known how these kinds are served: %s; put their CRDs into a folder named schemas beside the policy, or give it with --schemas", strings.Join(names, ", "))
}

// Of returns the permissions of policies.
func Of(policies []*plan.Policy, settings plan.Settings, resources Resources) ([]Permission, error) {
	var out []Permission
	var unknown UnknownKinds
	for _, p := range policies {
		for _, a := range p.Accesses(settings) {
			r, ok := resources(a.GVK)
			if !ok {
				unknown = append(unknown, a.GVK)
				continue
			}
			out = append(out, permission(p.ID(), a, r))
		}
	}
	if len(unknown) > 0 {
		slices.SortFunc(unknown, func(a, b schema.GVK) int { return strings.Compare(a.String(), b.String()) })
		return nil, slices.Compact(unknown)
	}
	return out, nil
}

func permission(policy string, a plan.Access, r schema.Resource) Permission {
	out := Permission{Policy: policy, Group: a.Group(), Resource: r.Name, Verb: a.Verb, Name: a.Name}
	if a.Resource != "" {
		out.Resource = a.Resource
	}
	if a.Subresource != "" {
		out.Resource += "/" + a.Subresource
	}
	if r.Namespaced { // what belongs to no namespace cannot be allowed in one
		out.Namespace, out.Param = a.Namespace, a.Param
	}
	return out
}
