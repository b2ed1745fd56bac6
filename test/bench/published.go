package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// published are ratios by case and number of nodes.
type published map[string]float64

// fallen is from which part of a published ratio on a lower one is named: less is within
// what the hour makes of it.
const fallen = 0.75

// readPublished reads the ratios of the tables that -markdown has printed into a file.
func readPublished(path string) (published, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := published{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 8 || !strings.HasPrefix(cells[0], "| ") {
			continue
		}
		if ratio, err := strconv.ParseFloat(cells[6], 64); err == nil {
			out[strings.TrimPrefix(cells[0], "| ")+", "+cells[1]] = ratio
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no table of ratios", path)
	}
	return out, nil
}

// was returns the published ratio of a row, and whether the row is lower by more than a quarter.
func (p published) was(r row) (ratio float64, lower bool) {
	ratio = p[fmt.Sprintf("%s, %d", r.Label, r.Nodes)]
	return ratio, r.Ratio < fallen*ratio
}

// highest measures a row, and up to twice again while it is lower than published, since other
// work on the machine lowers ratios as well. It returns the row with the highest ratio.
func (p published) highest(measure func() (row, error)) (best row, err error) {
	for n := range 3 {
		r, err := measure()
		if err != nil {
			return row{}, err
		}
		if n == 0 || r.Ratio > best.Ratio {
			best = r
		}
		if _, lower := p.was(best); !lower {
			break
		}
	}
	return best, nil
}

// compare names the rows whose ratio is lower by more than a quarter.
func (p published) compare(rows []row, path string, to io.Writer) {
	lower := 0
	for _, r := range rows {
		if was, fell := p.was(r); fell {
			fmt.Fprintf(to, "lower than in %s: %s, %d nodes: %.2f, was %.2f\n", path, r.Label, r.Nodes, r.Ratio, was)
			lower++
		}
	}
	if lower == 0 {
		fmt.Fprintf(to, "no ratio is lower than in %s by more than a quarter\n", path)
	}
}
