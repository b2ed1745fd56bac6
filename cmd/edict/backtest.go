package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/backtest"
	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/source"
)

// backtestFlags are those of edict backtest.
type backtestFlags struct {
	schemas, params []string
	log, output     string
}

func backtestCommand() *cobra.Command {
	var f backtestFlags
	cmd := &cobra.Command{
		Use:   "backtest --log FILE PATH...",
		Short: "Make recorded decisions again with an edit of their policies",
		Long: `Reads a change log that a controller has written with --change-log-inputs, makes
each of its decisions again with the policies at each PATH (a file or a folder), on
what the decision depended on then, and lists those that turn out otherwise.

Exit codes: 0 all turn out the same, 1 some do not, or cannot be made again.`,
		Example: "  edict backtest --log changes.jsonl edited-policies",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.log, "log", "", "the change log")
	flags.StringArrayVar(&f.params, "param", nil, "policy.name=value; may repeat")
	flags.StringArrayVar(&f.schemas, "schemas", nil, "a folder of CRDs; may repeat")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	if err := cmd.MarkFlagRequired("log"); err != nil {
		panic(err)
	}
	return cmd
}

func (f *backtestFlags) run(ctx context.Context, out, errOut io.Writer, paths []string) error {
	if err := wantOutput(f.output, "text", "json"); err != nil {
		return err
	}
	params, err := parseParams(f.params)
	if err != nil {
		return err
	}
	b, err := source.Load(paths, source.Options{Schemas: f.schemas, Params: params})
	if err != nil {
		return found("%v", err)
	}
	if err := runnable(errOut, b); err != nil {
		return err
	}
	log, err := os.Open(f.log)
	if err != nil {
		return found("%v", err)
	}
	defer log.Close()
	result, err := backtest.Run(ctx, log, b.Policies, capture.Options{Schemas: b.Schemas, Guard: guard.New(b.Allowances).Assuming()})
	if err != nil {
		return found("%s: %v", f.log, err)
	}
	if err := printBacktest(out, f.output, result); err != nil {
		return err
	}
	if len(result.Different)+len(result.NotDecided) > 0 {
		return findings{}
	}
	return nil
}

func printBacktest(w io.Writer, output string, r *backtest.Result) error {
	if output == "json" {
		return writeJSON(w, r)
	}
	for _, d := range r.Different {
		fmt.Fprintf(w, "%s %s %s (%s)\n", d.At.Format("2006-01-02T15:04:05Z07:00"), d.Policy, d.Key, d.ID)
		for _, one := range d.Before {
			fmt.Fprintf(w, "  - %s\n", writeText(one))
		}
		for _, one := range d.After {
			fmt.Fprintf(w, "  + %s\n", writeText(one))
		}
		if d.Error != "" {
			fmt.Fprintf(w, "  + error: %s\n", explain.FirstLine(d.Error))
		}
	}
	for _, n := range r.NotDecided {
		fmt.Fprintf(w, "not decided: %s %s (%s): %s\n", n.Policy, n.Key, n.ID, explain.FirstLine(n.Reason))
	}
	_, err := fmt.Fprintf(w, "%s: %d the same, %d different, %d not decided\n", count(r.Decisions, "decision", "decisions"), r.Same, len(r.Different), len(r.NotDecided))
	return err
}

func writeText(w backtest.Write) string {
	name := w.Target.Name
	if w.Target.Namespace != "" {
		name = w.Target.Namespace + "/" + name
	}
	sub := ""
	if w.Subresource != "" {
		sub = " (" + w.Subresource + ")"
	}
	return fmt.Sprintf("%s %s %s%s %s", w.Verb, w.Target.Kind, name, sub, shortValue(w.Patch))
}
