package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/rbac"
)

// role is a Role or, of no namespace, the ClusterRole.
type role struct {
	namespace string
	// params are those that name the namespace.
	params []string
	rules  []rbac.Rule
}

// roles gives the ClusterRole and the Roles, by their namespaces.
func roles(permissions []rbac.Permission) (out []role) {
	places := map[string][]rbac.Permission{}
	namespaces := []string{""}
	for _, p := range permissions {
		places[p.Namespace] = append(places[p.Namespace], p)
		namespaces = append(namespaces, p.Namespace)
	}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		out = append(out, role{namespace: namespace, params: paramsOf(places[namespace]), rules: rbac.Rules(places[namespace])})
	}
	return out
}

// paramsOf gives the params that name the namespace, as policy.param.
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

const rbacVersion = "rbac.authorization.k8s.io/v1"

func printRolesYAML(w io.Writer, name string, permissions []rbac.Permission) error {
	for i, r := range roles(permissions) {
		if i > 0 {
			fmt.Fprintln(w, "---")
		}
		if len(r.params) > 0 {
			fmt.Fprintf(w, "# The namespace is the value of %s.\n", strings.Join(r.params, ", "))
		}
		fmt.Fprintf(w, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", rbacVersion, r.kind(), rbac.Quote(name))
		if r.namespace != "" {
			fmt.Fprintf(w, "  namespace: %s\n", rbac.Quote(r.namespace))
		}
		if len(r.rules) == 0 {
			fmt.Fprintln(w, "rules: []")
			continue
		}
		fmt.Fprintln(w, "rules:")
		for _, rule := range r.rules {
			fmt.Fprintf(w, "  # %s\n  - %s\n", strings.Join(rule.Policies, ", "), rule)
		}
	}
	return nil
}

// printRolesJSON prints a List. JSON has no comments, so an annotation says
// who needs what.
func printRolesJSON(w io.Writer, name string, permissions []rbac.Permission) error {
	items := []any{}
	for _, r := range roles(permissions) {
		metadata := map[string]any{"name": name, "annotations": map[string]string{"edict.dev/needed-by": r.neededBy()}}
		if r.namespace != "" {
			metadata["namespace"] = r.namespace
		}
		items = append(items, map[string]any{"apiVersion": rbacVersion, "kind": r.kind(), "metadata": metadata, "rules": append([]rbac.Rule{}, r.rules...)})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// printRules prints one rule a line, as a person reads it.
func printRules(w io.Writer, _ string, permissions []rbac.Permission) error {
	rows := [][]string{{"NAMESPACE", "GROUP", "RESOURCES", "NAMES", "VERBS", "POLICIES"}}
	for _, r := range roles(permissions) {
		for _, rule := range r.rules {
			rows = append(rows, []string{orElse(r.namespace, "*"), orElse(rule.APIGroups[0], "core"),
				listed(rule.Resources), orElse(listed(rule.ResourceNames), "*"), listed(rule.Verbs), strings.Join(rule.Policies, ", ")})
		}
	}
	return table(w, rows)
}

func listed(list []string) string { return strings.Join(list, ",") }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
