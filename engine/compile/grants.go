package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// rbacGroup is the API group of roles and bindings.
const rbacGroup = "rbac.authorization.k8s.io/"

// grants records what the API server asks for when a binding or a role is
// written: that the writer may bind the role, or escalate. Otherwise it must
// have every right that is given, which nobody can derive from the text.
func (b *builder) grants(t *target, n *document.Node, fields *cel.Template, create bool) {
	for i, gvk := range t.kinds {
		if !strings.HasPrefix(gvk.APIVersion, rbacGroup) {
			continue
		}
		at := b.place(t, t.roots[i])
		switch {
		case strings.HasSuffix(gvk.Kind, "RoleBinding") && n.Get("roleRef") != nil:
			b.binds(gvk, at, n.Get("roleRef"), fields.Field("roleRef"))
		case strings.HasSuffix(gvk.Kind, "Role") && (n.Get("rules") != nil || n.Get("aggregationRule") != nil):
			if create {
				at.Name = plan.Known{} // the server does not know it when it asks
			}
			b.writes(plan.Write{GVK: gvk, Verb: plan.WriteEscalate, Place: at})
		}
	}
}

// binds records the role that a binding names; all roles where it is computed.
func (b *builder) binds(binding schema.GVK, at plan.Place, ref *document.Node, fields *cel.Template) {
	role := plan.Place{Namespace: at.Namespace, Input: at.Input, Name: known(ref.Get("name"), fields.Field("name"))}
	kinds := []string{literal(ref, "kind")}
	if kinds[0] == "" {
		kinds = []string{"ClusterRole", "Role"}
	}
	for _, kind := range kinds {
		b.writes(plan.Write{GVK: schema.GVK{APIVersion: binding.APIVersion, Kind: kind}, Verb: plan.WriteBind, Place: role})
	}
}
