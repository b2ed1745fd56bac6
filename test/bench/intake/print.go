package intake

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/edict-dev/edict/test/bench/measure"
)

// printer writes tables, as text or as Markdown.
type printer struct {
	to       io.Writer
	markdown bool
}

func (p printer) report(r *report) {
	fmt.Fprintf(p.to, "Taking in 10,000 objects of a kind, without the garbage collector; CPU time and its share, allocations\n\n")
	p.table(cpuHead, each(r.Kinds, kindRow.cpu))
	fmt.Fprintf(p.to, "Live heap of 10,000 objects\n\n")
	p.table(liveHead, each(r.Kinds, kindRow.live))
	fmt.Fprintf(p.to, "First decisions about what was taken in\n\n")
	p.table(decisionHead, each(r.Decisions, decisionRow.cells))
	fmt.Fprintf(p.to, "The records of the last %d decisions hold %s besides.\n\n", decisions, mega(r.Records))
	fmt.Fprintf(p.to, "All %d objects together, with the garbage collector\n\n", r.Whole.Objects)
	p.table(wholeHead, [][]string{whole("Edict", r.Whole.Edict), whole("typed", r.Whole.Typed), whole("unstructured", r.Whole.Loose)})
}

var (
	cpuHead      = []string{"objects", "JSON", "decode", "tables and indexes", "keys", "all", "typed: decode", "indexer", "unstructured: decode", "indexer"}
	liveHead     = []string{"objects", "values", "tables and indexes", "router", "all", "typed: objects", "indexer", "unstructured: objects", "indexer"}
	decisionHead = []string{"policy", "keys", "CPU of a key", "allocations", "live"}
	wholeHead    = []string{"", "CPU", "allocations", "allocated", "live"}
)

func each[T any](list []T, cells func(T) []string) (out [][]string) {
	for _, one := range list {
		out = append(out, cells(one))
	}
	return out
}

func (k kindRow) cpu() []string {
	all := k.sum().CPU
	share := func(c measure.Cost) string {
		return fmt.Sprintf("%s (%s), %s", ms(c.CPU), percent(c.CPU, all), count(c.Allocs))
	}
	plain := func(c measure.Cost) string { return fmt.Sprintf("%s, %s", ms(c.CPU), count(c.Allocs)) }
	return []string{
		k.Title, mega(k.JSON), share(k.Decode), share(k.Store), share(k.Map), plain(k.sum()),
		plain(k.Typed.Decode), plain(k.Typed.Store), plain(k.Loose.Decode), plain(k.Loose.Store),
	}
}

func (k kindRow) live() []string {
	all := k.sum().Live
	share := func(c measure.Cost) string { return fmt.Sprintf("%s (%s)", mega(c.Live), percent(c.Live, all)) }
	return []string{
		k.Title, share(k.Decode), share(k.Store), share(k.Map), mega(all),
		mega(k.Typed.Decode.Live), mega(k.Typed.Store.Live), mega(k.Loose.Decode.Live), mega(k.Loose.Store.Live),
	}
}

func (d decisionRow) cells() []string {
	return []string{d.Policy, fmt.Sprint(d.Keys), fmt.Sprintf("%.1f µs", d.Key.CPU/1e3), fmt.Sprintf("%.0f", d.Key.Allocs), fmt.Sprintf("%.1f KB", d.Key.Live/1e3)}
}

func whole(name string, c measure.Cost) []string {
	return []string{name, ms(c.CPU), count(c.Allocs), mega(c.Bytes), mega(c.Live)}
}

func (p printer) table(head []string, rows [][]string) {
	if p.markdown {
		p.line(head)
		fmt.Fprintf(p.to, "|%s\n", strings.Repeat("---|", len(head)))
		for _, row := range rows {
			p.line(row)
		}
	} else {
		t := tabwriter.NewWriter(p.to, 0, 4, 2, ' ', 0)
		for _, row := range append([][]string{head}, rows...) {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		t.Flush()
	}
	fmt.Fprintln(p.to)
}

func (p printer) line(cells []string) { fmt.Fprintf(p.to, "| %s |\n", strings.Join(cells, " | ")) }

func ms(ns float64) string { return fmt.Sprintf("%.0f ms", ns/1e6) }

// mega returns megabytes. A difference of two measurements may be a little below nothing.
func mega(bytes float64) string { return fmt.Sprintf("%.1f MB", max(0, bytes/1e6)) }

func count(n float64) string { return fmt.Sprintf("%.0f K", n/1e3) }

// percent returns a share of a whole; of nothing it is nothing.
func percent(part, all float64) string {
	if all == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", max(0, 100*part/all))
}
