// Command bench measures what a decision of Edict takes beside the same controllers
// written by hand in Go: CPU time, allocations and bytes, in one process and in
// rounds that alternate between both. It fails if they do not decide the same.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/test/bench/intake"
	"github.com/edict-dev/edict/test/bench/live"
	"github.com/edict-dev/edict/test/bench/reload"
)

func main() {
	if err := command(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	rounds       int
	out, against string
	cases, nodes string
	live, reload bool
	memory       bool
	markdown     bool
	profiles
}

func command(ctx context.Context, args []string, to io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 10, "how many rounds each side of a case is measured")
	flags.StringVar(&o.out, "o", "", "`file` that takes the figures as JSON")
	flags.StringVar(&o.against, "against", "", "name the ratios that are lower than in the tables of this Markdown `file` by more than a quarter")
	flags.BoolVar(&o.markdown, "markdown", false, "print the table as Markdown")
	flags.StringVar(&o.cases, "case", "", "measure only the cases whose name matches this regular `expression`")
	flags.StringVar(&o.nodes, "nodes", "", "measure only these numbers of nodes, separated by commas")
	flags.StringVar(&o.cpu, "cpuprofile", "", "write a CPU profile of Edict's side alone, or with -live of this process, to this `file`")
	flags.StringVar(&o.mem, "memprofile", "", "write a profile of the allocations to this `file`, of the same")
	flags.BoolVar(&o.live, "live", false, "place volumes on a real control plane instead, which make controlplane has to have built")
	flags.BoolVar(&o.reload, "reload", false, "edit a policy with 10,000 volumes instead")
	flags.BoolVar(&o.memory, "memory", false, "take in the objects of 10,000 nodes instead, and show which step takes which memory and CPU time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return o.run(ctx, to)
}

func (o options) run(ctx context.Context, to io.Writer) error {
	if o.live {
		return o.profiles.during(func() error { return live.Run(ctx, to) })
	}
	if o.reload {
		return reload.Run(ctx, to)
	}
	if o.memory {
		return intake.Run(ctx, intake.Options{Markdown: o.markdown, Out: o.out}, to)
	}
	found, err := o.find()
	if err != nil {
		return err
	}
	if o.cpu != "" || o.mem != "" {
		return o.profiles.take(ctx, found, o.rounds)
	}
	return o.measure(ctx, found, to)
}

// find returns the cases that are asked for.
func (o options) find() ([]spec, error) {
	matches, err := regexp.Compile(o.cases)
	if err != nil {
		return nil, err
	}
	nodes := map[int]bool{}
	for text := range strings.SplitSeq(o.nodes, ",") {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("-nodes: %w", err)
		}
		nodes[n] = true
	}
	found := find(matches.MatchString, nodes)
	if len(found) == 0 {
		return nil, fmt.Errorf("no case matches %q with %q nodes", o.cases, o.nodes)
	}
	return found, nil
}

func (o options) measure(ctx context.Context, found []spec, to io.Writer) error {
	var p published
	if o.against != "" {
		var err error
		if p, err = readPublished(o.against); err != nil {
			return fmt.Errorf("-against: %w", err)
		}
	}
	t := table{to, o.markdown}
	t.head()
	var rows []row
	for _, s := range found {
		r, err := p.highest(func() (row, error) { return s.run(ctx, o.rounds) })
		if err != nil {
			return fmt.Errorf("%s, %d nodes: %w", s.label(), s.Nodes, err)
		}
		t.row(r)
		rows = append(rows, r)
	}
	if o.against != "" {
		p.compare(rows, o.against, to)
	}
	if o.out == "" {
		return nil
	}
	return writeJSON(o.out, rows)
}
