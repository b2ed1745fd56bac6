package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// allowances finds what a policy may not do without an allowance.
func allowances(p *policy) {
	g := simulate.GuardOf(p.bundle)
	lacks := g.Lacks(p.plan)
	kinds := byKind(lacks, kindOfLack)
	for i, found := range guard.Problems(lacks) {
		hint := found.Hint
		if !strings.HasPrefix(hint, "there is an allowance") {
			where := "allowances.yaml beside the policies (edict allowances prints the whole document)"
			if p.plan.Set != "" {
				where = "spec.allow of the PolicySet " + p.plan.Set
			}
			hint = p.nearly(kinds[i][0]) + "add to " + where + ":\n" + indented(allow(kinds[i]), "    ")
		}
		p.report(document.MissingAllowance, found.Position, hint, found.Message)
	}
}

// nearly returns a hint at an allowance with a misspelt policy or kind, or "".
func (p *policy) nearly(lack guard.Lack) string {
	for _, a := range p.bundle.Allowances {
		if document.DidYouMean(a.Policy.Value, []string{p.plan.Name}) != "" && document.DidYouMean(a.ForKind.Value, []string{lack.Kind}) != "" {
			return fmt.Sprintf("the allowance at %s is for policy: %s and kind: %s and lacks this: correct it, or ", a.Pos, a.Policy.Value, a.ForKind.Value)
		}
	}
	return ""
}

// owned follows the name of an object in a condition that holds if the primary object is its
// controller.
const owned = ".metadata.?ownerReferences.orValue([]).exists(o, o.uid == object.metadata.uid && o.?controller.orValue(false))"

// unowned finds inputs of built-in kinds, in any namespace, whose values are written to what
// is protected without a comparison of who owns the objects: users of the cluster make such.
func unowned(p *policy) {
	for _, u := range guard.Unowneds(p.plan) {
		kind, builtin := schema.Builtin().Resource(u.Source.GVK)
		if !builtin || !kind.Namespaced || u.Scope().Namespace.Value != "" {
			continue
		}
		hint := "compare the owner in where: item" + owned + "; or read objects of one namespace"
		if strings.HasPrefix(u.Name, analyze.ChildRef("").String()) {
			hint = "compare the owner in the forEach or when that reads it: x" + owned + "; or take the value from where the child has it"
		}
		p.report(document.UnownedSource, u.Pos, hint,
			fmt.Sprintf("whoever may make a %s can make the policy %s: the value comes from %s of the input %q, and nothing compares the uid of its controller", u.Source.Kind, u.Decides, u.Field, u.Written()))
	}
}

// unlimited reports the first deletion or eviction of a policy without a limit of removals.
// Of children only those of a list count: one primary object may have any number of them.
func unlimited(p *policy) {
	if p.plan.Limits.Removals != nil {
		return
	}
	const limit = "limits: {removals: {perWindow: 100}} at the spec, with as many as there may be in a minute"
	const byDefault = " and has no limit of removals: by the default it is paused after 10 in a minute, or 25 % of its primary objects"
	for _, c := range p.unit.Document.Spec.Children {
		if c.ForEach.Set() {
			p.report(document.NoRemovalLimit, c.Pos, limit, "the policy deletes children "+c.Name.Value+", one for each item of a list,"+byDefault)
			return
		}
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
			p.report(document.NoRemovalLimit, at, limit, "the policy "+verb+" objects"+byDefault)
			return
		}
	}
}

// byKind parts what is lacking or obeyed by kinds, in the order of the first of each.
func byKind[T any](list []T, kind func(T) schema.GVK) (out [][]T) {
	at := map[schema.GVK]int{}
	for _, one := range list {
		i, known := at[kind(one)]
		if !known {
			i = len(out)
			at[kind(one)] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], one)
	}
	return out
}

func kindOfLack(l guard.Lack) schema.GVK { return l.GVK }

func kindOfObeyed(o guard.Obeyed) schema.GVK { return o.GVK }

// allow writes the entry of the document for what is lacking of one kind.
func allow(lacks []guard.Lack) string {
	var fields []string
	for _, l := range lacks {
		fields = append(fields, l.Field)
	}
	first := lacks[0]
	return fmt.Sprintf("- policy: %s\n  apiGroup: %q\n  kind: %s\n  fields: [%s]\n", first.Policy, first.Group(), first.Kind, quoted(fields))
}

// obeys writes the entry of the document for the fields of one kind that a policy obeys.
func obeys(policy string, of []guard.Obeyed) string {
	var fields []string
	for _, o := range of {
		fields = append(fields, o.Field)
	}
	return fmt.Sprintf("- policy: %s\n  apiGroup: %q\n  kind: %s\n  obeys: [%s]\n", policy, of[0].Group(), of[0].Kind, quoted(fields))
}

// quoted joins fields, those in quotes that YAML would read otherwise.
func quoted(fields []string) string {
	out := slices.Clone(fields)
	for i, field := range fields {
		if strings.ContainsAny(field, "*{}[],") {
			out[i] = strconv.Quote(field)
		}
	}
	return strings.Join(out, ", ")
}

func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by)
}

// Allowances writes the document that opens all that policies need by their texts, with the
// fields that they obey, for policies that are to be pinned; "" if they need no allowance.
func Allowances(policies []*plan.Policy) string {
	var out strings.Builder
	obeyed, g := guard.ObeyedByAll(policies)
	for i, p := range policies {
		for _, kind := range byKind(g.Lacks(p), kindOfLack) {
			out.WriteString(indented(allow(kind), "    ") + "\n")
		}
		for _, kind := range byKind(obeyed[i], kindOfObeyed) {
			out.WriteString(indented(obeys(p.Name, kind), "    ") + "\n")
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: allowances}\nspec:\n  allow:\n" + out.String()
}
