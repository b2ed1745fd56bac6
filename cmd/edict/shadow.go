package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/value"
)

// shadowFlags say where to ask what policies in the shadow came to.
type shadowFlags struct {
	kubeconfig, namespace, output string
	endpoint                      endpoint
}

func shadowCommand() *cobra.Command {
	var f shadowFlags
	cmd := &cobra.Command{
		Use:   "shadow [POLICY...] (--policy-namespace NAMESPACE | --address URL)",
		Short: "Show what policies in Shadow mode would have written",
		Long: `A policy with mode: Shadow decides and writes nothing. Beside a policy of the
same name that is enforced, it decides in the same states of the cluster, and
what it would have done otherwise is counted and listed; alone, all that it
would have done is.

It is read from the ConfigMaps of the policies (annotation ` + v1alpha1.AnnotationShadow + `), or
asked of a running controller, at the address of its metrics. With --metrics-secure
that takes the token of somebody who may get ` + run.ShadowPath + `.`,
		Example: "  edict shadow --policy-namespace edict-system\n  edict shadow replica-scheduling --address https://localhost:4272 --token \"$(kubectl create token reader)\" --insecure-skip-tls-verify",
		RunE: func(cmd *cobra.Command, args []string) error {
			print, ok := shadowPrinters[f.output]
			if !ok {
				return fmt.Errorf("unknown output %q: table, yaml or json", f.output)
			}
			state, err := f.state(cmd.Context())
			if err != nil {
				return found("%v", err)
			}
			if err := state.choose(args); err != nil {
				return err
			}
			if len(state.unreported) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "edict: the controller has not yet reported about these policies in Shadow mode, which it does every five seconds: %s\n", strings.Join(state.unreported, ", "))
				if len(state.reports) == 0 && f.output == "table" {
					return nil
				}
			}
			return print(cmd.OutOrStdout(), state.reports)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	flags.StringVar(&f.namespace, "policy-namespace", "", "the namespace of the ConfigMaps with policies")
	f.endpoint.register(cmd, "https://localhost:4272")
	flags.StringVarP(&f.output, "output", "o", "table", "table, yaml or json")
	cmd.MarkFlagsOneRequired("policy-namespace", "address")
	cmd.MarkFlagsMutuallyExclusive("policy-namespace", "address")
	return cmd
}

var shadowPrinters = outputs(printShadows)

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
