package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// allowances finds what a policy may not do without an allowance.
func allowances(p *policy) {
	g := guard.New(p.bundle.Allowances)
	lacks := g.Lacks(p.plan)
	kinds := byKind(lacks)
	for i, found := range guard.Problems(lacks) {
		hint := found.Hint
		if !strings.HasPrefix(hint, "there is an allowance") {
			hint = "add to allowances.yaml beside the policies (edict allowances prints the whole document):\n" + indented(allow(kinds[i]), "    ")
		}
		p.report(document.MissingAllowance, found.Position, hint, found.Message)
	}
}

// unlimited reports the first deletion or eviction of a policy without a limit of removals.
// Deletions of children do not count.
func unlimited(p *policy) {
	if p.plan.Limits.Removals != nil {
		return
	}
	for _, r := range p.plan.Rules {
		for a := range r.Actions() {
			verb, at := "deletes", document.Position{}
			switch a := a.(type) {
			case *plan.Delete:
				at = a.Pos
			case *plan.Evict:
				verb, at = "evicts", a.Pos
			}
			if at.Line == 0 || r.Prunes || r.Former {
				continue
			}
			p.report(document.NoRemovalLimit, at, "limits: {removals: {perWindow: 100}} at the spec, with as many as there may be in a minute",
				"the policy "+verb+" objects and has no limit of removals: by the default it is paused after 10 in a minute, or 25 % of its primary objects")
			return
		}
	}
}

// byKind parts what is lacking by kinds, in the order of the first of each.
func byKind(lacks []guard.Lack) (out [][]guard.Lack) {
	at := map[schema.GVK]int{}
	for _, l := range lacks {
		i, known := at[l.GVK]
		if !known {
			i = len(out)
			at[l.GVK] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], l)
	}
	return out
}

// allow writes the entry of the document for what is lacking of one kind.
func allow(lacks []guard.Lack) string {
	var fields []string
	for _, l := range lacks {
		fields = append(fields, l.Field)
	}
	first := lacks[0]
	return fmt.Sprintf("- policy: %s\n  apiGroup: %q\n  kind: %s\n  fields: [%s]\n", first.Policy, first.Group(), first.Kind, quoted(fields))
}

// quoted joins fields, those with a "*" in quotes: without, it is an alias of YAML.
func quoted(fields []string) string {
	out := slices.Clone(fields)
	for i, field := range fields {
		if strings.Contains(field, "*") {
			out[i] = strconv.Quote(field)
		}
	}
	return strings.Join(out, ", ")
}

func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by)
}

// Allowances writes the document that opens all that policies need, as far as
// their texts tell; "" when they need nothing.
func Allowances(policies []*plan.Policy) string {
	var out strings.Builder
	for _, p := range policies {
		var g guard.Guard
		for _, kind := range byKind(g.Lacks(p)) {
			out.WriteString(indented(allow(kind), "    ") + "\n")
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: allowances}\nspec:\n  allow:\n" + out.String()
}
