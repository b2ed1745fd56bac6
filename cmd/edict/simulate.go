package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// fileFlags are those of a command that runs policies on manifests.
type fileFlags struct {
	policyFiles
	manifests

	output string
}

// register adds the flags; the time is another one by default.
func (f *fileFlags) register(cmd *cobra.Command, otherwise string) *cobra.Command {
	f.policyFiles.register(cmd)
	f.manifests.register(cmd.Flags(), otherwise)
	return require(f.takePaths(cmd, 1), "objects")
}

// bundle reads the policies, all of which must compile.
func (f *fileFlags) bundle(errOut io.Writer) (*source.Bundle, error) {
	b, err := f.load(f.policies, source.Options{})
	if err != nil {
		return nil, err
	}
	return b, runnable(errOut, b)
}

type simulateFlags struct {
	fileFlags

	brakes   brakeFlags
	timeline string
	until    *time.Duration
	trace    bool
}

func simulateCommand() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate PATH... --objects PATH",
		Short: "Run policies on manifests, in memory and on a virtual clock",
		Long: `Runs the whole engine on manifests, without a cluster, until no work is left,
and prints what it wrote, in order. With --until the virtual clock then jumps
from deadline to deadline up to that time after the start.

Errors of evaluations are part of what it prints: it ends with 1 only if the policies
cannot run, or if their Rego meets the limit of its memory or processor time.`,
		Example: "  edict simulate policies --objects examples/storage",
		RunE:    withOutputs(f.run),
	}
	flags := cmd.Flags()
	f.brakes.register(flags)
	flags.StringVar(&f.timeline, "timeline", "", "a file with what happens after the start")
	flags.Var(until{&f.until}, "until", "how long to go on after the start, such as 1h")
	flags.BoolVar(&f.trace, "trace", false, "with -o yaml or json, also give every rule and variable of every evaluation")
	outputFlag(cmd, &f.output, "table", "yaml", "json")
	return f.register(cmd, "the real time")
}

func (f *simulateFlags) run(ctx context.Context, out, errOut io.Writer) error {
	if err := f.open(); err != nil {
		return err
	}
	bundle, err := f.bundle(errOut)
	if err != nil {
		return err
	}
	objects, err := f.read(bundle, append(f.files, f.timeline)...)
	if err != nil {
		return err
	}
	timeline, err := f.readTimeline(bundle)
	if err != nil {
		return err
	}
	answers, err := f.answerer()
	if err != nil {
		return err
	}
	sim := simulate.New(ctx, simulate.Options{Policies: bundle.Policies, Schemas: bundle.Schemas, Objects: objects, Guard: simulate.GuardOf(bundle).Assuming(), Start: f.instant(time.Now().UTC()), Answers: answers, KeepTraces: f.trace, Limits: &f.brakes.Settings})
	sim.Run(ctx, timeline, ptr.Deref(f.until, -1))
	if err := outputs(printTable)[f.output](out, sim.Shown(f.output == "json")); err != nil {
		return err
	}
	if err := regoLimit(); err != nil {
		return found("%v", err)
	}
	return nil
}

// runnable refuses policies that do not load.
func runnable(w io.Writer, b *source.Bundle) error {
	if err := compiles(w, b); err != nil {
		return err
	}
	if len(b.Policies) == 0 {
		for _, p := range b.Problems { // a warning may say why
			printProblem(w, p)
		}
		hint := ""
		if b.Skipped > 0 {
			hint = count(b.Skipped, "document there is of another kind", "documents there are of other kinds") + ": --objects takes manifests"
		}
		return found("%v in %s%s", source.ErrNothing, document.OneLine(strings.Join(b.Paths, ", ")), hinted(hint))
	}
	return nil
}

// compiles prints the errors of policies, and reports that there are some.
func compiles(w io.Writer, b *source.Bundle) error {
	printErrors(w, b.Problems)
	if b.Err() != nil {
		return findings{}
	}
	return nil
}

func (f *simulateFlags) readTimeline(b *source.Bundle) ([]simulate.Entry, error) {
	if f.timeline == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.timeline)
	if err != nil {
		return nil, err
	}
	timeline, err := simulate.ParseTimeline(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.timeline, err)
	}
	for _, e := range timeline {
		if err := simulate.CheckTypes(b.Schemas, e.Objects()); err != nil {
			return nil, found("%s: at %v: %v", f.timeline, e.At.Duration, err)
		}
	}
	return timeline, nil
}

// printPaused prints a line for each policy that would be paused.
func printPaused(w io.Writer, list []simulate.Paused) {
	for _, p := range list {
		fmt.Fprintln(w, p)
	}
}

// printTable shows what was done, as a person reads it.
func printTable(w io.Writer, r simulate.Result) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	switch {
	case len(r.Effects)+len(r.Refused) > 0:
		fmt.Fprintln(t, "AT\tPOLICY\tVERB\tOBJECT\tRULE")
	case len(r.Errors) > 0:
		fmt.Fprintln(t, "Nothing was written, because of the errors below.")
	case len(r.Missed) > 0:
		fmt.Fprintln(t, "Nothing was written.")
	default:
		fmt.Fprintln(t, "Nothing to write: the world is as the policies want it.")
	}
	for _, e := range r.Effects {
		object := objectOf(e.Target)
		if e.Subresource != "" {
			object += " (" + e.Subresource + ")"
		}
		fmt.Fprintf(t, "+%s\t%s\t%s\t%s\t%s\n", e.At.Sub(r.Start), e.Policy, e.Verb, object, document.OneLine(e.Rule))
	}
	for _, e := range r.Refused {
		fmt.Fprintf(t, "+%s\t%s\t%s\t%s\t%s: %s\n", e.At.Sub(r.Start), e.Policy, e.Verb, objectOf(e.Target), document.OneLine(e.Rule), e.Message)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	printFailures(w, r)
	for _, m := range r.Missed {
		fmt.Fprintf(w, "\nthe timeline patches %s at +%s, and there is no such object\n", objectOf(m.Target), m.At.Sub(r.Start))
	}
	if len(r.Paused) > 0 {
		fmt.Fprintln(w)
		printPaused(w, r.Paused)
	}
	for _, q := range r.Requeue {
		fmt.Fprintf(w, "\n%s looks at %s again at %s%s", q.Policy, q.Key, q.At.Format(time.RFC3339Nano), after(q.At, r.Start))
	}
	fmt.Fprintf(w, "\n%s, %s, %s; -o yaml shows the patches and the objects\n", count(len(r.Effects), "write", "writes"),
		count(len(r.Errors), "error", "errors"), count(len(r.Objects), "object", "objects"))
	return nil
}

// objectOf names an object with its kind and namespace.
func objectOf(t simulate.Target) string {
	return t.Kind + "/" + strings.TrimPrefix(t.Namespace+"/"+t.Name, "/")
}

// after returns how long after a start a time is, if that is a duration at all.
func after(at, start time.Time) string {
	d := at.Sub(start)
	if d == math.MaxInt64 { // centuries, as in a date that stands for never
		return ""
	}
	return fmt.Sprintf(" (+%s)", d)
}

// refusedWrite matches the error of a rule whose write was refused before.
var refusedWrite = regexp.MustCompile(`(?m)^(rule "[^"]*": )\S+:\d+:\d+: (.*): the API server refuses it: `)

// printFailures shows each error once, with how often it came. Of a write that is refused, and
// of the rule that sees that, it is one error.
func printFailures(w io.Writer, r simulate.Result) {
	type same struct{ policy, key, message string }
	idOf := func(e simulate.Error) same {
		return same{e.Policy, e.Key.String(), refusedWrite.ReplaceAllString(e.Message, "${1}writing $2: ")}
	}
	times := map[same]int{}
	for _, e := range r.Errors {
		times[idOf(e)]++
	}
	for _, e := range r.Errors {
		id := idOf(e)
		n, first := times[id]
		if !first {
			continue
		}
		delete(times, id)
		again := ""
		if n > 1 {
			again = fmt.Sprintf(" (%d times)", n)
		}
		fmt.Fprintf(w, "\nerror at +%s, %s %s%s:\n  %s\n", e.At.Sub(r.Start), e.Policy, e.Key, again, strings.ReplaceAll(e.Message, "\n", "\n  "))
	}
}
