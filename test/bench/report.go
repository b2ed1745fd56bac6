package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/edict-dev/edict/test/bench/measure"
)

// row is a case with its figures.
type row struct {
	spec
	Label    string  `json:"label"`
	EdictCPU float64 `json:"edict_cpu_ns"`
	HandCPU  float64 `json:"byhand_cpu_ns"`
	// Ratio is the CPU time of the other side for each of Edict's.
	Ratio  float64         `json:"ratio"`
	Met    bool            `json:"met"`
	Woken  int             `json:"woken"`
	Edict  measure.Figures `json:"edict"`
	ByHand measure.Figures `json:"byhand"`
}

// run measures a case.
func (s spec) run(ctx context.Context, rounds int) (row, error) {
	r := row{spec: s, Label: s.label()}
	p, err := s.sides(ctx, s)
	if err != nil {
		return r, err
	}
	if err := p.check(); err != nil {
		return r, err
	}
	if r.Edict, r.ByHand, err = measure.Two(rounds, p.edict, p.byHand); err != nil {
		return r, err
	}
	if w, ok := p.edict.(interface{ Woken() int }); ok {
		r.Woken = w.Woken()
	}
	r.EdictCPU, r.HandCPU = r.Edict.Median, r.ByHand.Median
	r.Ratio = r.HandCPU / r.EdictCPU
	r.Met = r.Ratio >= s.Goal && (!s.Asleep || r.Woken == 0) && (s.Allocs == 0 || r.Edict.Allocs < s.Allocs+0.5) // others allocate now and then
	return r, nil
}

// writeJSON writes the rows to a file.
func writeJSON(path string, rows []row) error {
	text, err := json.MarshalIndent(map[string]any{"rows": rows}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// goal says what is asked of a case.
func (r row) goal() string {
	out := ""
	if r.Goal > 0 {
		out = fmt.Sprintf("%g", r.Goal)
	}
	if r.Asleep {
		out = fmt.Sprintf("not woken (%d)", r.Woken)
	}
	if r.Allocs > 0 {
		out = fmt.Sprintf("%g allocations", r.Allocs)
	}
	switch {
	case out == "":
		return "-"
	case r.Met:
		return out + ": met"
	}
	return out + ": no"
}

// table writes rows as they come, as text or as a table of Markdown.
type table struct {
	to       io.Writer
	markdown bool
}

func (t table) head() {
	t.line("case", "nodes", "Edict CPU (min..max)", "allocations, bytes", "by hand CPU (min..max)", "allocations, bytes", "ratio", "goal")
	if t.markdown {
		fmt.Fprintln(t.to, "|---|---|---|---|---|---|---|---|")
	}
}

func (t table) row(r row) {
	t.line(r.Label, fmt.Sprint(r.Nodes), times(r.Edict), memory(r.Edict), times(r.ByHand), memory(r.ByHand), fmt.Sprintf("%.2f", r.Ratio), r.goal())
}

// line writes a line of eight cells.
func (t table) line(cells ...any) {
	format := "%-32s %6s  %-28s %-20s %-28s %-20s %7s  %s\n"
	if t.markdown {
		format = "| %s | %s | %s | %s | %s | %s | %s | %s |\n"
	}
	fmt.Fprintf(t.to, format, cells...)
}

func times(f measure.Figures) string {
	return fmt.Sprintf("%s (%s..%s)", short(f.Median), short(f.Min), short(f.Max))
}

func short(ns float64) string {
	d := time.Duration(ns)
	switch {
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d >= 100*time.Microsecond:
		return d.Round(10 * time.Microsecond).String()
	case d >= time.Microsecond:
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.String()
}

func memory(f measure.Figures) string { return fmt.Sprintf("%.0f, %s", f.Allocs, size(f.Bytes)) }

func size(bytes float64) string {
	switch {
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f M", bytes/1e6)
	case bytes >= 1e4:
		return fmt.Sprintf("%.0f K", bytes/1e3)
	}
	return fmt.Sprintf("%.0f", bytes)
}
