package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/value"
)

// shadowFlags say where to ask what policies in the shadow came to.
type shadowFlags struct {
	origin origin
	live   liveFlags
	output string
}

func shadowCommand() *cobra.Command {
	var f shadowFlags
	cmd := &cobra.Command{
		Use:   "shadow [SET/POLICY...]",
		Short: "Show what policies in Shadow mode would have written",
		Long: `A policy in Shadow mode decides and writes nothing. In a set with spec.shadowOf it
decides in the same states of the cluster as the policy of that set, and what it would
have done otherwise is counted and listed; alone, all that it would have done is.

The leader is asked, or a running controller at the address of its metrics. With
--metrics-secure that takes the token of somebody who may get ` + run.ShadowPath + `.`,
		Example: "  edict shadow\n  edict shadow next/replica-scheduling --address https://localhost:4272 --token \"$(kubectl create token reader)\" --insecure-skip-tls-verify",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.origin.about = args
			body, err := f.live.ask(cmd.Context(), &f.origin, run.ShadowPath)
			if err != nil {
				return found("%v", err)
			}
			var reports []reconcile.ShadowReport
			if err := json.Unmarshal(body, &reports); err != nil {
				return found("that does not answer as a controller does: %v", err)
			}
			for _, name := range args {
				if !slices.ContainsFunc(reports, func(r reconcile.ShadowReport) bool { return r.Policy == name }) {
					return found("no policy %q is in Shadow mode", name)
				}
			}
			reports = slices.DeleteFunc(reports, func(r reconcile.ShadowReport) bool { return len(args) > 0 && !slices.Contains(args, r.Policy) })
			return outputs(printShadows)[f.output](cmd.OutOrStdout(), reports)
		},
	}
	flags := cmd.Flags()
	f.origin.setClient.register(flags, namespaceOfSets)
	f.live.register(cmd)
	outputFlag(cmd, &f.output, "table", "yaml", "json")
	return cmd
}

// printShadows shows the counts of all policies, then the examples.
func printShadows(w io.Writer, reports []reconcile.ShadowReport) error {
	if len(reports) == 0 {
		_, err := fmt.Fprintln(w, "No policy is in the shadow.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "POLICY\tSHADOW\tENFORCED\tEVALUATIONS\tDISAGREEMENTS\tUNDETERMINED\tDIFFERING NOW")
	for _, r := range reports {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", r.Policy, r.Revision, cmp.Or(r.Enforced, "(none)"), r.Evaluations, r.Disagreements, r.Undetermined, r.Differing)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range reports {
		for _, d := range r.Examples {
			printDisagreement(w, r.Policy, d)
		}
		if r.MoreExamples > 0 {
			fmt.Fprintf(w, "\nand %d more examples of %s; --address shows them\n", r.MoreExamples, r.Policy)
		}
	}
	return nil
}

const (
	// shownLines is how many differences of an example the table shows, and
	// shownLength how much of each.
	shownLines, shownLength = 10, 160
)

func printDisagreement(w io.Writer, policy string, d reconcile.Disagreement) {
	settled := ""
	if d.Settled {
		settled = ", the same since"
	}
	fmt.Fprintf(w, "\n%s %s, %s%s\n", policy, d.Key, d.At.UTC().Format(time.RFC3339), settled)
	if d.Undetermined != "" {
		fmt.Fprintf(w, "  undetermined: it would have asked %s\n", d.Undetermined)
	}
	got := len(d.Differences)
	d.Shorten(shownLines)
	for _, line := range d.Differences {
		if more := len(line) - shownLength; more > 0 {
			line = fmt.Sprintf("%s (and %d bytes more)", value.Cut(line, shownLength), more)
		}
		fmt.Fprintf(w, "  %s\n", line)
	}
	switch {
	case d.More > 0 && got > shownLines:
		fmt.Fprintf(w, "  and %d more; -o yaml shows them\n", d.More)
	case d.More > 0:
		fmt.Fprintf(w, "  and %d more; --address with -o yaml shows them\n", d.More)
	}
}
