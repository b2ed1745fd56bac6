package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/rbac"
)

// role is a Role or, of no namespace, a ClusterRole.
type role struct {
	name, namespace string
	// params are those that name the namespace.
	params []string
	rules  []rbac.Rule
	// account is the ServiceAccount that it is bound to, if it is bound at all, and policy the
	// one for which it is.
	account *account
	policy  string
}

// account names a ServiceAccount.
type account struct{ namespace, name string }

// roles returns the ClusterRole and the Roles, by their namespaces.
func roles(name string, permissions []rbac.Permission) (out []role) {
	places := map[string][]rbac.Permission{}
	namespaces := []string{""}
	for _, p := range permissions {
		places[p.Namespace] = append(places[p.Namespace], p)
		namespaces = append(namespaces, p.Namespace)
	}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		out = append(out, role{name: name, namespace: namespace, params: paramsOf(places[namespace]), rules: rbac.Rules(places[namespace])})
	}
	return out
}

// paramsOf returns the params that name the namespace, as policy.param.
func paramsOf(permissions []rbac.Permission) (out []string) {
	for _, p := range permissions {
		if p.Param != "" {
			out = append(out, p.Policy+"."+p.Param)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r role) kind() string {
	if r.namespace == "" {
		return "ClusterRole"
	}
	return "Role"
}

// neededBy says for each rule which policies need it.
func (r role) neededBy() string {
	var out []string
	for i, rule := range r.rules {
		out = append(out, fmt.Sprintf("rules[%d]: %s", i, strings.Join(rule.Policies, ", ")))
	}
	return strings.Join(out, "\n")
}

// labelPermissions is the label of the roles and bindings of one policy, by which they can be
// deleted with it: a ConfigMap cannot own cluster roles.
const labelPermissions = "edict.dev/permissions-of"

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

func printRolesYAML(w io.Writer, list []role) error {
	for i, r := range list {
		if i > 0 {
			fmt.Fprintln(w, "---")
		}
		r.printYAML(w)
		if r.account != nil {
			r.printBinding(w)
		}
	}
	return nil
}

func (r role) printYAML(w io.Writer) {
	if len(r.params) > 0 {
		fmt.Fprintf(w, "# The namespace is the value of %s.\n", strings.Join(r.params, ", "))
	}
	r.printHead(w, r.kind())
	if len(r.rules) == 0 {
		fmt.Fprintln(w, "rules: []")
		return
	}
	fmt.Fprintln(w, "rules:")
	for _, rule := range r.rules {
		fmt.Fprintf(w, "  # %s\n  - %s\n", strings.Join(rule.Policies, ", "), rule)
	}
}

func (r role) printHead(w io.Writer, kind string) {
	fmt.Fprintf(w, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", rbacVersion, kind, rbac.Quote(r.name))
	if r.namespace != "" {
		fmt.Fprintf(w, "  namespace: %s\n", rbac.Quote(r.namespace))
	}
	if r.policy != "" {
		fmt.Fprintf(w, "  labels: {%s: %s}\n", labelPermissions, rbac.Quote(r.policy))
	}
}

func (r role) printBinding(w io.Writer) {
	fmt.Fprintln(w, "---")
	r.printHead(w, r.kind()+"Binding")
	fmt.Fprintf(w, "roleRef: {apiGroup: %s, kind: %s, name: %s}\nsubjects:\n  - {kind: ServiceAccount, name: %s, namespace: %s}\n",
		rbacGroup, r.kind(), rbac.Quote(r.name), rbac.Quote(r.account.name), rbac.Quote(r.account.namespace))
}

func printRolesJSON(w io.Writer, list []role) error { return printList(w, roleObjects(list)) }

func printList(w io.Writer, items []any) error {
	return writeJSON(w, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// roleObjects returns the manifests. JSON has no comments, so an annotation says who needs what.
func roleObjects(list []role) []any {
	items := []any{}
	for _, r := range list {
		metadata := r.metadata()
		metadata["annotations"] = map[string]string{"edict.dev/needed-by": r.neededBy()}
		items = append(items, map[string]any{"apiVersion": rbacVersion, "kind": r.kind(), "metadata": metadata, "rules": append([]rbac.Rule{}, r.rules...)})
		if r.account == nil {
			continue
		}
		items = append(items, map[string]any{
			"apiVersion": rbacVersion, "kind": r.kind() + "Binding", "metadata": r.metadata(),
			"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": r.kind(), "name": r.name},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": r.account.name, "namespace": r.account.namespace}},
		})
	}
	return items
}

func (r role) metadata() map[string]any {
	out := map[string]any{"name": r.name}
	if r.namespace != "" {
		out["namespace"] = r.namespace
	}
	if r.policy != "" {
		out["labels"] = map[string]string{labelPermissions: r.policy}
	}
	return out
}

// printRules prints one rule a line, as a person reads it.
func printRules(w io.Writer, list []role) error {
	rows := [][]string{{"NAMESPACE", "GROUP", "RESOURCES", "NAMES", "VERBS", "POLICIES"}}
	for _, r := range list {
		for _, rule := range r.rules {
			rows = append(rows, []string{cmp.Or(r.namespace, "*"), cmp.Or(rule.APIGroups[0], "core"),
				listed(rule.Resources), cmp.Or(listed(rule.ResourceNames), "*"), listed(rule.Verbs), strings.Join(rule.Policies, ", ")})
		}
	}
	return table(w, rows)
}

func listed(list []string) string { return strings.Join(list, ",") }
