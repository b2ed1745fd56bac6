package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rule is a rule of a Role or a ClusterRole.
type Rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	Verbs         []string `json:"verbs"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	// Policies are those that need all of this.
	Policies []string `json:"-"`
}

// verbOrder is how people write them.
var verbOrder = []string{"get", "list", "watch", "create", "update", "patch", "delete", "bind", "escalate", "approve"}

// Rules returns rules for permissions of one place. Permissions are joined only
// where a rule then allows nothing else, and where the same policies need them.
func Rules(permissions []Permission) []Rule {
	type object struct{ group, resource, name string }
	needed := map[object]map[string][]string{} // verb: policies
	for _, p := range permissions {
		o := object{p.Group, p.Resource, p.Name}
		if needed[o] == nil {
			needed[o] = map[string][]string{}
		}
		if !slices.Contains(needed[o][p.Verb], p.Policy) {
			needed[o][p.Verb] = append(needed[o][p.Verb], p.Policy)
		}
	}
	var out []Rule
	for o, verbs := range needed {
		for verb, policies := range verbs {
			slices.Sort(policies)
			r := Rule{APIGroups: []string{o.group}, Resources: []string{o.resource}, Verbs: []string{verb}, Policies: policies}
			if o.name != "" {
				r.ResourceNames = []string{o.name}
			}
			out = append(out, r)
		}
	}
	for _, list := range []func(*Rule) *[]string{
		func(r *Rule) *[]string { return &r.Verbs },
		func(r *Rule) *[]string { return &r.ResourceNames },
		func(r *Rule) *[]string { return &r.Resources },
	} {
		out = join(out, list)
	}
	slices.SortFunc(out, compareRules)
	return out
}

// join makes one rule of those that differ in one list only. A rule without
// names is about all of them and is joined with none that has some.
func join(rules []Rule, list func(*Rule) *[]string) []Rule {
	groups := map[string]Rule{}
	for _, r := range rules {
		values := *list(&r)
		rest := r
		*list(&rest) = nil
		key := fmt.Sprintf("%q", []any{rest.APIGroups, rest.Resources, rest.Verbs, rest.ResourceNames, rest.Policies, len(values) == 0})
		if have, ok := groups[key]; ok {
			values = append(slices.Clone(*list(&have)), values...)
		}
		*list(&rest) = sorted(values)
		groups[key] = rest
	}
	return slices.Collect(maps.Values(groups))
}

// sorted puts verbs into their order, and everything else into the alphabet's.
func sorted(list []string) []string {
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(verbOrder, a), slices.Index(verbOrder, b)), cmp.Compare(a, b))
	})
	return slices.Compact(list)
}

func compareRules(a, b Rule) int {
	return cmp.Or(slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Resources, b.Resources), slices.Compare(a.ResourceNames, b.ResourceNames),
		cmp.Compare(slices.Index(verbOrder, a.Verbs[0]), slices.Index(verbOrder, b.Verbs[0])), slices.Compare(a.Policies, b.Policies))
}

// String writes the rule as YAML on one line.
func (r Rule) String() string {
	text := fmt.Sprintf("apiGroups: %s, resources: %s, verbs: %s", flow(r.APIGroups), flow(r.Resources), flow(r.Verbs))
	if len(r.ResourceNames) > 0 {
		text += ", resourceNames: " + flow(r.ResourceNames)
	}
	return "{" + text + "}"
}

// plainText needs no quotes in YAML; words that mean something to it do.
var plainText = regexp.MustCompile(`^[a-z]([a-z0-9./-]*[a-z0-9])?$`)

var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// Quote writes a text as a YAML scalar.
func Quote(text string) string {
	if plainText.MatchString(text) && !slices.Contains(yamlWords, text) {
		return text
	}
	return strconv.Quote(text)
}

func flow(list []string) string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = Quote(text)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
