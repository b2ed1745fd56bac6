package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/record"
)

// WhyNot returns why a name, which may be written as KIND/NAME or NAMESPACE/NAME, was not
// chosen or listed: the step of each selection that dropped it or the points by which it lost,
// the condition of each list, and the rules that did not run for it. The name may also be that
// of a rule. The result is empty if the decision has no such name.
func WhyNot(d *record.Document, name string) (out []string) {
	short := name[strings.LastIndex(name, "/")+1:]
	for i := range d.Selections {
		out = append(out, whyNotChosen(&d.Selections[i], short)...)
	}
	chosen, listed := len(out) > 0, false
	for i := range d.Lists {
		listed = listed || d.Lists[i].Included
		out = append(out, whyNotListed(&d.Lists[i], short))
	}
	var rules []string
	for i := range d.Rules {
		rules = append(rules, whyNotRuled(&d.Rules[i], name, short)...)
	}
	if len(rules) == 0 && listed && !chosen {
		rules = skipped(d.Rules)
	}
	if out = append(out, rules...); len(out) == 0 {
		return unwanted(d, name)
	}
	return out
}

// whyNotRuled returns what a rule did for the items of a name, or for all of them if the name
// is the rule's.
func whyNotRuled(r *record.RuleDocument, name, short string) (out []string) {
	for i := range r.Items {
		if one := &r.Items[i]; one.Key == name || one.Key == short || r.Name == name {
			out = append(out, whyNotRun(r, one))
		}
	}
	if r.Name == name && len(out) == 0 {
		if out = skipped([]record.RuleDocument{*r}); len(out) == 0 {
			out = []string{fmt.Sprintf("the rule %q: %s", name, r.Outcome)}
		}
	}
	return out
}

// unwanted returns why single children are not wanted: such a child has no name.
func unwanted(d *record.Document, name string) (out []string) {
	for i := range d.Rules {
		for j := range d.Rules[i].Items {
			if item := &d.Rules[i].Items[j]; d.Rules[i].Child != "" && item.Rows != nil {
				out = append(out, fmt.Sprintf("no object is wanted that could be %s%s", name, because(and(rowReasons(item)))))
			}
		}
	}
	return out
}

func whyNotListed(l *record.ListDocument, name string) string {
	if l.Object != nil {
		name = l.Object.Kind + " " + qualified(l.Object.Namespace, l.Object.Name)
	}
	switch {
	case l.Elsewhere:
		return fmt.Sprintf("%s is not in %s: it is in another namespace, and the input has no within: cluster", name, l.List)
	case l.When == nil:
		return fmt.Sprintf("%s is in %s", name, l.List)
	case l.Included:
		return fmt.Sprintf("%s is in %s: %s", name, l.List, and(Reasons(l.When)))
	default:
		return fmt.Sprintf("%s is not in %s: %s", name, l.List, and(Reasons(l.When)))
	}
}

func whyNotRun(r *record.RuleDocument, i *record.ItemDocument) string {
	key := cmp.Or(i.Key, "the object")
	switch {
	case i.Error != "":
		return fmt.Sprintf("the rule %q failed for %s: %s", r.Name, key, FirstLine(i.Error))
	case !i.Ran:
		return fmt.Sprintf("the rule %q does not apply to %s: %s", r.Name, key, and(Reasons(i.When)))
	case i.Rows != nil:
		return fmt.Sprintf("the rule %q has no case for %s: %s", r.Name, key, and(rowReasons(i)))
	case i.Case != "":
		return fmt.Sprintf("the rule %q applies to %s, with the case %s", r.Name, key, i.Case)
	default:
		return fmt.Sprintf("the rule %q applies to %s", r.Name, key)
	}
}

func whyNotChosen(s *record.SelectionDocument, name string) (out []string) {
	in := "the rule " + fmt.Sprintf("%q", s.Rule)
	if s.Item != "" {
		in += " for " + s.Item
	}
	var winner *record.CandidateDocument
	if s.Winner != nil {
		winner = &s.Candidates[*s.Winner]
	}
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if !has(c, name) {
			continue
		}
		label := Candidate(c)
		switch {
		case c.Taken || c.Why != "":
			out = append(out, fmt.Sprintf("%s: %s came %s and was %s", in, label, place(c.Rank), taken(c)))
		case c.DroppedBy != "":
			out = append(out, fmt.Sprintf("%s: %s was excluded by the step %q", in, label, c.DroppedBy))
		case winner == c:
			out = append(out, fmt.Sprintf("%s: %s was chosen, with %s", in, label, count(c.Score)))
		case winner == nil:
			out = append(out, fmt.Sprintf("%s: %s was left with %s, but nothing was chosen", in, label, count(c.Score)))
		default:
			out = append(out, fmt.Sprintf("%s: %s came %s: %s", in, label, place(c.Rank), lost(c, winner)))
		}
	}
	return out
}

// taken says what a take made of a candidate.
func taken(c *record.CandidateDocument) string {
	if c.Taken {
		return outcome(c)
	}
	return "not taken: " + outcome(c)
}

func has(c *record.CandidateDocument, name string) bool {
	return slices.Contains(slices.Collect(maps.Values(c.Names)), name)
}

// lost says by what a candidate lost.
func lost(c, winner *record.CandidateDocument) string {
	if c.Score == winner.Score {
		return fmt.Sprintf("it has the %s of %s, which comes first in the order", count(c.Score), Candidate(winner))
	}
	text := fmt.Sprintf("%s, %s has %d", count(c.Score), Candidate(winner), winner.Score)
	steps := maps.Clone(winner.Points)
	if steps == nil {
		steps = map[string]int64{}
	}
	for step := range c.Points {
		if _, ok := steps[step]; !ok {
			steps[step] = 0
		}
	}
	var differ []string
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		if c.Points[step] != steps[step] {
			differ = append(differ, fmt.Sprintf("%s %d, not %d", step, c.Points[step], steps[step]))
		}
	}
	if len(differ) == 0 {
		return text
	}
	return text + " (" + strings.Join(differ, "; ") + ")"
}

func count(points int64) string {
	if points == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%d points", points)
}

func place(rank int) string {
	switch {
	case rank%10 == 1 && rank%100 != 11:
		return fmt.Sprintf("%dst", rank)
	case rank%10 == 2 && rank%100 != 12:
		return fmt.Sprintf("%dnd", rank)
	case rank%10 == 3 && rank%100 != 13:
		return fmt.Sprintf("%drd", rank)
	}
	return fmt.Sprintf("%dth", rank)
}

// Candidate names a candidate by its parts.
func Candidate(c *record.CandidateDocument) string {
	var parts []string
	for _, level := range slices.Sorted(maps.Keys(c.Names)) {
		if c.Names[level] != "" {
			parts = append(parts, level+" "+c.Names[level])
		}
	}
	return strings.Join(parts, ", ")
}

func qualified(namespace, name string) string { return strings.TrimPrefix(namespace+"/"+name, "/") }
