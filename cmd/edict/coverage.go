package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/coverage"
)

// printPoints lists how much of each policy the tests used, and what they did not.
func printPoints(w io.Writer, points []coverage.Point) {
	for _, of := range coverage.ByPolicy(points) {
		covered, total := coverage.Count(of)
		fmt.Fprintf(w, "coverage of %s: %d of %s came about (%.0f %%)\n", of[0].Policy, covered, count(total, "outcome", "outcomes"), coverage.PerCent(of))
		for i := range of {
			if missing := of[i].Missing(); len(missing) > 0 {
				fmt.Fprintf(w, "  %s: %s never came out as %s\n", of[i].Position, pointText(&of[i]), strings.Join(missing, " and "))
			}
		}
	}
}

// pointText names a point of a policy for a person.
func pointText(p *coverage.Point) string {
	if p.Kind == coverage.Condition {
		return "the condition `" + strings.Join(strings.Fields(p.Text), " ") + "`"
	}
	if p.Kind == coverage.Line {
		return "the line `" + p.Text + "`"
	}
	text := fmt.Sprintf("the %s %q", p.Kind, p.Text)
	if p.Rule != "" && p.Kind != coverage.Rule {
		text += fmt.Sprintf(" of the rule %q", p.Rule)
	}
	return text
}

// printLCOV writes the points in the format of lcov: a line is hit as often as its
// point, and each outcome is a branch.
func printLCOV(w io.Writer, points []coverage.Point) error {
	var out strings.Builder
	for _, of := range byFile(points) {
		fmt.Fprintf(&out, "TN:\nSF:%s\n", of[0].File)
		found, hit := 0, 0
		lines := map[int]int{}
		for block, p := range of {
			for branch, o := range p.Outcomes {
				fmt.Fprintf(&out, "BRDA:%d,%d,%d,%d\n", p.Line, block, branch, o.Count)
				lines[p.Line] += o.Count
				if found++; o.Count > 0 {
					hit++
				}
			}
		}
		fmt.Fprintf(&out, "BRF:%d\nBRH:%d\n", found, hit)
		out.WriteString(lineRecords(lines))
		out.WriteString("end_of_record\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func lineRecords(lines map[int]int) string {
	var out strings.Builder
	hit := 0
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&out, "DA:%d,%d\n", line, lines[line])
		if lines[line] > 0 {
			hit++
		}
	}
	fmt.Fprintf(&out, "LF:%d\nLH:%d\n", len(lines), hit)
	return out.String()
}

func byFile(points []coverage.Point) (out [][]coverage.Point) {
	at := map[string]int{}
	for _, p := range points {
		i, ok := at[p.File]
		if !ok {
			i = len(out)
			at[p.File] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], p)
	}
	return out
}
