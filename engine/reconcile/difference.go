package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// differences says, field by field, what a decision would come to that another
// does not: "+" is done only by it, "-" only by the other, "~" is done by both
// or leads to another value.
func differences(enforced, shadow *eval.Decision) (out []string) {
	ours, theirs := byTarget(enforced), byTarget(shadow)
	names := map[string]bool{}
	for name := range ours {
		names[name] = true
	}
	for name := range theirs {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, effectDifferences(name, ours[name], theirs[name])...)
	}
	was, now := problemTexts(enforced), problemTexts(shadow)
	for _, text := range was {
		if !slices.Contains(now, text) {
			out = append(out, "- "+text)
		}
	}
	for _, text := range now {
		if !slices.Contains(was, text) {
			out = append(out, "+ "+text)
		}
	}
	return out
}

// byTarget names the effects of a decision by what they are about. Several of one
// name are numbered.
func byTarget(d *eval.Decision) map[string]*eval.Effect {
	out := map[string]*eval.Effect{}
	if d == nil {
		return out
	}
	for _, e := range d.Effects {
		title := effectTitle(e)
		name := title
		for n := 2; out[name] != nil; n++ {
			name = fmt.Sprintf("%s #%d", title, n)
		}
		out[name] = e
	}
	return out
}

func problemTexts(d *eval.Decision) (out []string) {
	if d == nil {
		return nil
	}
	for _, p := range d.Problems {
		out = append(out, strings.TrimSpace("fails: rule "+p.Rule+" "+p.Item))
	}
	return out
}

func effectTitle(e *eval.Effect) string {
	title := fmt.Sprintf("%s %s %s", e.Verb, e.Target.Kind(), name(e.Target))
	if e.Subresource != "" {
		title += " (" + e.Subresource + ")"
	}
	return title
}

// effectDifferences compares what two effects lead to; either may be nil.
func effectDifferences(title string, ours, theirs *eval.Effect) []string {
	sign, one := "~ ", theirs
	switch {
	case ours == nil:
		sign = "+ "
	case theirs == nil:
		sign, one = "- ", ours
	}
	if one.Patch == nil || one.Verb != eval.VerbPatch {
		if sign == "~ " && effectText(ours) == effectText(theirs) {
			return nil
		}
		return []string{sign + effectText(one)}
	}
	var lines []string
	for _, d := range (value.Differ{Places: true}).Diff(patched(ours, one), patched(theirs, one), nil) {
		lines = append(lines, sign+title+": "+d.Path+": "+differenceOf(&d))
	}
	return lines
}

// patched returns the object of an effect as another one of it leaves it; nil leaves it as
// it is.
func patched(e, of *eval.Effect) *value.Map {
	before := cmp.Or(of.Before, value.Empty)
	if e == nil || e.Patch == nil {
		return before
	}
	return before.Merged(e.Patch)
}

// differenceOf describes the difference of a field.
func differenceOf(d *value.Difference) string {
	switch {
	case d.Reordered:
		return "another order"
	case value.IsNull(d.Before):
		return "added: " + value.Line(d.After)
	case value.IsNull(d.After):
		return "removed"
	}
	return value.Line(d.Before) + " -> " + value.Line(d.After)
}
