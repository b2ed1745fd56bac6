package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/test/bench/measure"
)

// TestPublishedRatios: what -markdown prints is read again, and a ratio that has fallen
// since is named.
func TestPublishedRatios(t *testing.T) {
	t.Parallel()
	one := func(name string, ratio float64) row {
		return row{spec: spec{Name: name, Nodes: 100}, Label: name, Ratio: ratio, Edict: measure.Figures{Median: 1e6}}
	}
	path := filepath.Join(t.TempDir(), "table.md")
	var text bytes.Buffer
	before := table{&text, true}
	before.head()
	for _, r := range []row{one("steady, Zonal", 10), one("cold, Zonal", 2.5), one("no more", 4)} {
		before.row(r)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := readPublished(path)
	if err != nil || len(p) != 3 {
		t.Fatalf("read %v, %v", p, err)
	}
	for name, tc := range map[string]struct {
		now  []row
		want string
	}{
		"lower by more than a quarter": {[]row{one("steady, Zonal", 7.4), one("cold, Zonal", 2.4)}, "steady, Zonal, 100 nodes: 7.40, was 10.00\n"},
		"a little lower, and new":      {[]row{one("steady, Zonal", 7.6), one("new", 1)}, "no ratio is lower"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p.compare(tc.now, path, &out)
			if !strings.Contains(out.String(), tc.want) || strings.Count(out.String(), "\n") != 1 {
				t.Errorf("got %q, want %q", out.String(), tc.want)
			}
		})
	}
}

// TestPublishedFigures: the documentation has a table of them.
func TestPublishedFigures(t *testing.T) {
	t.Parallel()
	p, err := readPublished("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range find(func(string) bool { return true }, nil) {
		if _, ok := p[fmt.Sprintf("%s, %d", s.label(), s.Nodes)]; !ok {
			t.Errorf("docs/performance.md has no ratio of %s with %d nodes", s.label(), s.Nodes)
		}
	}
}

// TestHighest: a row that is lower than published is measured up to three times, and the highest
// ratio counts.
func TestHighest(t *testing.T) {
	p := published{"steady, 100": 10}
	for name, c := range map[string]struct {
		ratios []float64
		want   float64
		runs   int
	}{
		"as published":        {[]float64{8, 20}, 8, 1},
		"lower once":          {[]float64{5, 8, 20}, 8, 2},
		"lower each time":     {[]float64{5, 7, 6, 20}, 7, 3},
		"nothing is measured": {[]float64{0, 0, 0}, 0, 3},
	} {
		runs := 0
		got, err := p.highest(func() (row, error) {
			runs++
			return row{spec: spec{Nodes: 100}, Label: "steady", Ratio: c.ratios[runs-1]}, nil
		})
		if err != nil || got.Ratio != c.want || runs != c.runs {
			t.Errorf("%s: %v, %v after %d runs, want %v after %d", name, got.Ratio, err, runs, c.want, c.runs)
		}
	}
}
