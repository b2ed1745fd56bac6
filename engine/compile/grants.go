package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// rbacGroup is the API group of roles and bindings.
const rbacGroup = "rbac.authorization.k8s.io/"

// grants records what the API server requires when a binding or a role is
// written: that the writer may bind the role, or escalate. Otherwise it must
// have every right that is given, which nobody can derive from the text.
func grants(node *analyze.Node, t *target, n *document.Node, fields *cel.Template, create bool) {
	for _, c := range t.candidates {
		gvk, at := c.gvk, c.at
		if !strings.HasPrefix(gvk.APIVersion, rbacGroup) {
			continue
		}
		switch {
		case strings.HasSuffix(gvk.Kind, "RoleBinding") && n.Get("roleRef") != nil:
			binds(node, gvk, at, n.Get("roleRef"), fields.Field("roleRef"))
		case strings.HasSuffix(gvk.Kind, "Role") && (n.Get("rules") != nil || n.Get("aggregationRule") != nil):
			if create {
				at.Name = analyze.ParamValue{} // the server does not know it when it asks
			}
			node.Write(analyze.Write{GVK: gvk, Verb: analyze.WriteEscalate, Scope: at})
		}
	}
}

// binds records the role that a binding names; all roles where it is computed.
func binds(node *analyze.Node, binding schema.GVK, at analyze.Scope, ref *document.Node, fields *cel.Template) {
	role := analyze.Scope{Namespace: at.Namespace, Input: at.Input, Name: knownText(fields.Field("name"))}
	kinds := []string{literal(ref, "kind")}
	if kinds[0] == "" {
		kinds = []string{"ClusterRole", "Role"}
	}
	for _, kind := range kinds {
		node.Write(analyze.Write{GVK: schema.GVK{APIVersion: binding.APIVersion, Kind: kind}, Verb: analyze.WriteBind, Scope: role})
	}
}
