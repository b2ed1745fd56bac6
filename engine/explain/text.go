package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/record"
)

// Text writes a record for people: the sentence, the rules, the candidates, what
// was read and written, and the deadlines.
func Text(w io.Writer, kind string, d *record.Document) error {
	var out strings.Builder
	out.WriteString(Sentence(kind, d) + "\n")
	rules(&out, d)
	for i := range d.Selections {
		candidates(&out, &d.Selections[i])
	}
	calls(&out, d)
	effectLines(&out, d)
	reads(&out, d)
	deadlines(&out, d)
	leftOff(&out, d)
	for line := range strings.Lines(out.String()) { // columns end in blanks
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func rules(out *strings.Builder, d *record.Document) {
	out.WriteString("\nRules\n")
	for i := range d.Rules {
		r := &d.Rules[i]
		fmt.Fprintf(out, "  %-10s %s\n", r.Outcome, document.OneLine(r.Name))
		if r.Delayed != nil {
			fmt.Fprintf(out, "             waits %s\n", until(r.Delayed))
		}
		if r.When != nil && (r.Child == "" || r.When.Value != true) {
			condition(out, r.When, "             ")
		}
		for j := range r.Items {
			item(out, &r.Items[j])
		}
		if r.Error != "" {
			fmt.Fprintf(out, "             error: %s\n", FirstLine(r.Error))
		}
	}
	if len(d.Variables) > 0 {
		out.WriteString("\nVariables\n")
	}
	for _, v := range d.Variables {
		fmt.Fprintf(out, "  %s = %s\n", v.Name, short(v.Value, v.Error))
	}
}

func condition(out *strings.Builder, w *record.WhenDocument, indent string) {
	fmt.Fprintf(out, "%s%s = %s\n", indent, oneLine(w.Text), short(w.Value, w.Error))
	for i := range w.Parts {
		condition(out, &w.Parts[i], indent+"  ")
	}
}

func item(out *strings.Builder, i *record.ItemDocument) {
	if i.Key == "" && i.Case == "" && i.Error == "" && i.When == nil && i.Rows == nil {
		return
	}
	state := "did not run"
	switch {
	case i.Rows != nil:
		state = "no case holds"
	case i.Case != "":
		state = fmt.Sprintf("ran the case %q", i.Case)
	case i.Ran:
		state = "ran"
	}
	fmt.Fprintf(out, "             %s: %s\n", cmp.Or(i.Key, "the rule"), state)
	if i.When != nil {
		condition(out, i.When, "               ")
	}
	for j := range i.Rows {
		condition(out, &i.Rows[j], "               ")
	}
	if i.Error != "" {
		fmt.Fprintf(out, "               error: %s\n", FirstLine(i.Error))
	}
}

// maxListed is how many candidates, reads and deadlines are listed.
const maxListed = 50

func candidates(out *strings.Builder, s *record.SelectionDocument) {
	fmt.Fprintf(out, "\nCandidates of the rule %q", s.Rule)
	if s.Item != "" {
		fmt.Fprintf(out, " for %s", s.Item)
	}
	fmt.Fprintf(out, ": %s\n", s.Summary)
	list := ranked(s)
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	last := "EXCLUDED BY"
	if slices.ContainsFunc(list, func(c *record.CandidateDocument) bool { return c.Taken }) {
		last = "OUTCOME"
	}
	fmt.Fprintf(t, "  RANK\tCANDIDATE\tSCORE\tPOINTS\t%s\n", last)
	for _, c := range list[:min(len(list), maxListed)] {
		rank := "-"
		if c.Rank > 0 {
			rank = fmt.Sprint(c.Rank)
		}
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%s\n", rank, Candidate(c), c.Score, pointsText(c), outcome(c))
	}
	if err := t.Flush(); err != nil {
		return // a builder takes everything
	}
	more(out, len(list))
}

func more(out *strings.Builder, n int) {
	if n > maxListed {
		fmt.Fprintf(out, "  and %d more; -o json has all of them\n", n-maxListed)
	}
}

// ranked returns the candidates, the best first and those that were excluded last.
func ranked(s *record.SelectionDocument) []*record.CandidateDocument {
	out := make([]*record.CandidateDocument, len(s.Candidates))
	for i := range s.Candidates {
		out[i] = &s.Candidates[i]
	}
	slices.SortStableFunc(out, func(a, b *record.CandidateDocument) int {
		return cmp.Or(cmp.Compare(min(1, b.Rank), min(1, a.Rank)), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.DroppedBy, b.DroppedBy))
	})
	return out
}

// outcome says which step excluded a candidate, and what a take made of it.
func outcome(c *record.CandidateDocument) string {
	switch {
	case c.Taken && c.Why == "":
		return "taken"
	case c.Taken:
		return "taken: " + c.Why
	case c.Why != "":
		return c.DroppedBy + ": " + c.Why
	}
	return c.DroppedBy
}

func pointsText(c *record.CandidateDocument) string {
	var out []string
	for _, step := range slices.Sorted(maps.Keys(c.Points)) {
		out = append(out, fmt.Sprintf("%s %d", step, c.Points[step]))
	}
	return strings.Join(out, ", ")
}

func calls(out *strings.Builder, d *record.Document) {
	if len(d.Calls) == 0 {
		return
	}
	out.WriteString("\nCalls\n")
	for _, c := range d.Calls {
		before := ""
		if c.AnsweredBefore {
			before = ", answered before"
		}
		fmt.Fprintf(out, "  %s (rule %q)%s: %s\n    request %s\n", c.Builtin, c.Rule, before, short(c.Response, c.Error), short(c.Request, ""))
	}
}

func effectLines(out *strings.Builder, d *record.Document) {
	if len(d.Effects) == 0 {
		out.WriteString("\nWrites: none, " + whyNone(d) + "\n")
		return
	}
	out.WriteString("\nWrites\n")
	for i := range d.Effects {
		e := &d.Effects[i]
		fmt.Fprintf(out, "  %s, rule %q", heading(e), e.Rule)
		if e.Result != "" {
			fmt.Fprintf(out, ": %s", e.Result)
		}
		out.WriteString("\n")
		if e.Before != nil {
			fmt.Fprintf(out, "    before %s\n", short(e.Before, ""))
		}
		if e.Patch != nil {
			fmt.Fprintf(out, "    patch  %s\n", short(e.Patch, ""))
		}
		if e.Error != "" {
			fmt.Fprintf(out, "    error: %s\n", FirstLine(e.Error))
		}
	}
}

// whyNone returns why a decision has no writes.
func whyNone(d *record.Document) string {
	failed := refused(d)
	switch {
	case d.Error != "" || hasOutcome(d, record.OutcomeFailed):
		return "because of the failure"
	case hasOutcome(d, record.OutcomeDelayed):
		return "because a rule waits"
	case len(deleted(d)) > 0:
		return and(deleted(d))
	case failed != "":
		return "because " + failed + " failed before and is tried again later"
	case d.Next != nil:
		return "until " + next(d)
	}
	return "nothing has to change"
}

// deleted returns the objects that are being deleted, with their finalizers.
func deleted(d *record.Document) (out []string) {
	for _, r := range d.Reads {
		if !r.Deleting {
			continue
		}
		text := fmt.Sprintf("%s %s is being deleted", r.Kind, qualified(r.Namespace, r.Name))
		if len(r.Finalizers) > 0 {
			text += ", and kept by " + and(r.Finalizers)
		}
		out = append(out, text)
	}
	return out
}

// refused returns the children whose template failed or whose last write was refused.
func refused(d *record.Document) string {
	var names []string
	for _, v := range d.Variables {
		set, ok := strings.CutPrefix(v.Name, "failed_")
		child := ok && slices.ContainsFunc(d.Rules, func(r record.RuleDocument) bool { return r.Child == set })
		if list, _ := v.Value.([]any); child && len(list) > 0 {
			names = append(names, fmt.Sprintf("the child %s (%v)", set, list[0]))
		}
	}
	return and(names)
}

// hasOutcome reports whether a rule has an outcome.
func hasOutcome(d *record.Document, outcome string) bool {
	return slices.ContainsFunc(d.Rules, func(r record.RuleDocument) bool { return r.Outcome == outcome })
}

func reads(out *strings.Builder, d *record.Document) {
	if len(d.Reads) == 0 {
		return
	}
	out.WriteString("\nReads\n")
	for _, r := range d.Reads[:min(len(d.Reads), maxListed)] {
		version := ""
		if r.ResourceVersion != "" {
			version = "@" + r.ResourceVersion
		}
		digests := ""
		if r.Digests {
			digests = "; the values are digests, as the policy lacks the allowance values"
		}
		fmt.Fprintf(out, "  %s %s%s: %s%s\n", r.Kind, qualified(r.Namespace, r.Name), version, record.Join(r.Fields), digests)
	}
	more(out, len(d.Reads))
}

func deadlines(out *strings.Builder, d *record.Document) {
	if len(d.Deadlines) == 0 {
		return
	}
	out.WriteString("\nDeadlines\n")
	for _, one := range d.Deadlines[:min(len(d.Deadlines), maxListed)] {
		fmt.Fprintf(out, "  %s %s\n", one.At.Format("2006-01-02T15:04:05Z07:00"), one.Why)
	}
	more(out, len(d.Deadlines))
}

// leftOff says what the record does not have, because it would be too large.
func leftOff(out *strings.Builder, d *record.Document) {
	if len(d.LeftOff) == 0 {
		return
	}
	out.WriteString("\nNot all is shown: the record is too large. Left off:\n")
	for _, one := range d.LeftOff {
		fmt.Fprintf(out, "  %d of %s\n", one.Count, one.List)
	}
}

// maxValue bounds a value in a line, in bytes.
const maxValue = 300

func short(v any, failed string) string {
	if failed != "" {
		return "error: " + FirstLine(failed)
	}
	return Value(v, maxValue)
}

// Value returns a value as JSON in one line, cut after so many bytes.
func Value(v any, most int) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err.Error()
	}
	text := strings.TrimSpace(out.String())
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// Names returns the names that WhyNot takes, of candidates, items and rules, sorted and
// without duplicates.
func Names(d *record.Document) (out []string) {
	for i := range d.Selections {
		for j := range d.Selections[i].Candidates {
			out = slices.AppendSeq(out, maps.Values(d.Selections[i].Candidates[j].Names))
		}
	}
	for i := range d.Rules {
		out = append(out, d.Rules[i].Name)
		for _, item := range d.Rules[i].Items {
			if item.Key != "" {
				out = append(out, item.Key)
			}
		}
	}
	for _, r := range d.Reads {
		out = append(out, r.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
