package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	"github.com/edict-dev/edict/engine/compare"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// planFlags are those of edict plan.
type planFlags struct {
	world    worldFlags
	against  []string
	until    *time.Duration
	output   string
	recorded recordedFlags
	brakes   brakeFlags
}

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan PATH... [--against PATH | -n NAMESPACE]",
		Short: "Show what an edit of policies changes, field by field, and change nothing",
		Long: `Runs the policies before and after an edit on the same objects, in memory, each
until nothing is left to do, and prints the fields that end up different.

After the edit run those at each PATH. Before it run those of --against; without it
those that run in the cluster by the PolicySets of the namespace, of which the
policies at each PATH then replace those of the same name; without either
none, which is the plan of an installation. A policy of a set of which nothing
runs, because its text was refused or waits, counts as not there.

What the policies may do of what is protected is what their sets allow, and what
allowances.yaml beside them says. Policies that the controller would refuse because they lack an
allowance are named.

The objects are those of the cluster, or manifests (--objects). Nothing is sent to
the cluster but reads. Builtins that call out, such as the scheduler extender, are
not called. Their answers are those that were recorded for the same request
(--recorded, --address), and else those of --answers; a key that needs an answer
which is not known is listed as not decided.

Exit codes: 0 nothing changes, 2 something does, 1 it failed, or something is not
decided and nothing else changes.`,
		Example: "  edict plan edited.yaml -n edict-system\n" +
			"  edict plan new --against policies --objects world.yaml --answers answers.json\n" +
			"  edict plan policies --objects examples/storage",
		RunE: withOutputs(f.run),
	}
	f.world.register(cmd, "the namespace of the PolicySets to compare with")
	f.recorded.register(cmd)
	f.brakes.register(cmd.Flags())
	flags := cmd.Flags()
	flags.StringArrayVar(&f.against, "against", nil, "a file or folder of the policies before the edit; may repeat")
	flags.Var(until{&f.until}, "until", "how long to go on after the start, such as 1h: the clock jumps from deadline to deadline")
	outputFlag(cmd, &f.output, "text", "json")
	return f.world.origin.takePaths(cmd, 1)
}

func (f *planFlags) run(ctx context.Context, out, errOut io.Writer) error {
	o, err := f.options(ctx, errOut)
	if err != nil {
		return err
	}
	stop := progress(errOut, o)
	result, err := compare.Run(ctx, *o)
	stop()
	if err != nil {
		return err
	}
	if err := printPlan(out, f.output, result); err != nil {
		return err
	}
	switch {
	case len(result.Changes) > 0:
		return changes{}
	case len(result.NotDecided) > 0:
		return findings{}
	}
	return nil
}

// options reads both sets of policies, and what they run on.
func (f *planFlags) options(ctx context.Context, errOut io.Writer) (*compare.Options, error) {
	in, err := f.world.loadPolicies(ctx, errOut)
	if err != nil {
		return nil, err
	}
	if in.answers, err = f.recorded.answers(ctx, in.answers); err != nil {
		return nil, err
	}
	before, err := f.before(ctx, in, errOut)
	if err != nil {
		return nil, err
	}
	after := in.bundle.Policies
	if in.reader != nil {
		after = f.given(errOut, after)
	}
	if len(f.against) == 0 {
		after = overlaid(before.Policies, after)
	}
	if in.installed {
		printLacks(errOut, &in.guard, in.bundle.Policies)
	}
	if err := f.world.read(ctx, in, slices.Concat(before.Policies, after), errOut); err != nil {
		return nil, err
	}
	schemas := schema.NewSet(in.bundle.Schemas)
	schemas.AddAll(before.Schemas)
	return &compare.Options{
		Before: before.Policies, After: after, Schemas: schemas, Objects: in.objects, Start: in.start, Until: ptr.Deref(f.until, 0), Answers: in.answers, Guard: in.guard, Limits: &f.brakes.Settings,
	}, nil
}

// given returns the policies that have all values that a cluster wants, and names the others.
func (f *planFlags) given(errOut io.Writer, policies []*plan.Policy) []*plan.Policy {
	return slices.DeleteFunc(slices.Clone(policies), func(p *plan.Policy) bool {
		err := p.Unset(f.world.origin.Context.Namespace)
		if err != nil {
			fmt.Fprintf(errOut, "edict: the policy %s would wait: %v\n", p.Name, err)
		}
		return err != nil
	})
}

// before loads the policies before the edit.
func (f *planFlags) before(ctx context.Context, in *input, errOut io.Writer) (*source.Bundle, error) {
	if len(f.against) == 0 && f.world.origin.Context.Namespace == "" {
		return &source.Bundle{Schemas: schema.NewSet(nil)}, nil
	}
	world := f.world
	world.origin.onlyRunning = true
	return world.other(ctx, in, f.against, errOut)
}

// overlaid returns policies with some of them replaced, by name, and others added.
func overlaid(policies, with []*plan.Policy) []*plan.Policy {
	out := slices.DeleteFunc(slices.Clone(policies), func(p *plan.Policy) bool {
		return slices.ContainsFunc(with, func(other *plan.Policy) bool { return other.ID() == p.ID() })
	})
	return append(out, with...)
}

// progress counts the evaluations on a terminal; the function ends it.
func progress(errOut io.Writer, o *compare.Options) (stop func()) {
	if !isTerminal(errOut) {
		return func() {}
	}
	var count atomic.Int64
	o.Evaluated = func() {
		if n := count.Add(1); n%500 == 0 {
			fmt.Fprintf(direct(errOut), "\r\x1b[K%d evaluations", n)
		}
	}
	return func() { fmt.Fprint(direct(errOut), "\r\x1b[K") }
}

func printPlan(w io.Writer, output string, r *compare.Result) error {
	if output == "json" {
		return writeJSON(w, r)
	}
	for _, c := range r.Changes {
		by := "by the API server's garbage collection"
		if len(c.Policies) > 0 {
			by = "by " + strings.Join(c.Policies, ", ")
		}
		fmt.Fprintf(w, "%s %s: %s, %s\n", c.Target.Kind, strings.TrimPrefix(c.Target.Namespace+"/"+c.Target.Name, "/"), c.Verb, by)
		for _, field := range c.Fields {
			before, after := shortValues(field.Before, field.After)
			fmt.Fprintf(w, "  %s: %s -> %s\n", field.Path, before, after)
		}
	}
	for _, n := range r.NotDecided {
		more := ""
		if lines := strings.Count(n.Reason, "\n"); lines > 0 {
			more = fmt.Sprintf(" (and %s)", count(lines, "more error", "more errors"))
		}
		what := "not decided"
		if n.Partly {
			what = "decided in part"
		}
		fmt.Fprintf(w, "%s: %s %s: %s%s\n", what, n.Policy, n.Key, explain.FirstLine(n.Reason), more)
	}
	if slices.ContainsFunc(r.NotDecided, func(n compare.NotDecided) bool { return strings.Contains(n.Reason, expr.ErrNoAnswer.Error()) }) {
		fmt.Fprintln(w, "answers of builtins that call out are given with --answers, and recorded ones with --recorded or --address")
	}
	printPaused(w, r.Paused)
	for _, k := range r.Kept {
		fmt.Fprintln(w, k)
	}
	if len(r.Changes)+len(r.NotDecided)+len(r.Paused)+len(r.Kept) > 0 {
		fmt.Fprintln(w)
	}
	undecided := ""
	if n := len(r.NotDecided); n > 0 {
		undecided = count(n, "key", "keys") + " not decided in full, "
	}
	_, err := fmt.Fprintf(w, "%d to create, %d to change, %d to delete, %d unchanged; %s%s\n",
		r.Created, r.Changed, r.Deleted, r.UnchangedObjects, undecided, count(r.Evaluations, "evaluation", "evaluations"))
	return err
}

// maxShown bounds a value in a line, in bytes.
const maxShown = 160

// shortValues returns two values for a line. Where both begin with the same long text, it
// is left out but for its end.
func shortValues(a, b any) (before, after string) {
	before, after = shortValue(a), shortValue(b)
	if before != after || len(before) <= maxShown { // else both are cut
		return before, after
	}
	x, y := []rune(explain.Value(a, math.MaxInt)), []rune(explain.Value(b, math.MaxInt))
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	from := max(0, same-shownBefore)
	return shortText("..." + string(x[from:])), shortText("..." + string(y[from:]))
}

// shownBefore is how much of the same text is shown before a difference, in characters.
const shownBefore = 20

func shortText(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return value.Cut(text, maxShown) + "..."
}

// shortValue returns a value as JSON, cut where it is long; - is none.
func shortValue(v any) string {
	if v == nil {
		return "-"
	}
	return explain.Value(v, maxShown)
}
