package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/mutation"
)

// mutate are the flags of mutation testing.
type mutate struct {
	on       bool
	policies []string
	time     time.Duration
	seed     uint64
	score    float64
}

func (m *mutate) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.on, "mutate", false, "change the policies in small ways, one at a time, and list the changes that no case notices")
	cmd.Flags().DurationVar(&m.time, "mutate-time", 10*time.Minute, "how long changes are tried; 0 is without end")
	cmd.Flags().Uint64Var(&m.seed, "seed", 1, "the order in which changes are tried follows from this number")
	cmd.Flags().Float64Var(&m.score, "mutate-score", 90, "the share of the changes, in per cent, that must be noticed")
	cmd.Flags().StringArrayVar(&m.policies, "policy", nil, "change only the policy of this name; may repeat")
}

func (m *mutate) options(schemas []string, params compile.Overrides) mutation.Options {
	return mutation.Options{Schemas: schemas, Params: params, Time: m.time, Seed: m.seed, Policies: m.policies}
}

func (m *mutate) run(ctx context.Context, cmd *cobra.Command, paths []string, o mutation.Options, output string) error {
	if output != "text" && output != "json" {
		return fmt.Errorf("unknown output %q with --mutate: text or json", output)
	}
	if isTerminal(cmd.ErrOrStderr()) {
		o.Progress = func(done, all int) { fmt.Fprintf(direct(cmd.ErrOrStderr()), "\r%d of %d changes tried", done, all) }
	}
	result, err := mutation.Run(ctx, paths, o)
	if err != nil {
		return found("%v", err)
	}
	if err := printMutations(cmd.OutOrStdout(), result, output); err != nil {
		return err
	}
	if result.Score < m.score {
		return findings{}
	}
	return nil
}

func printMutations(w io.Writer, r *mutation.Result, output string) error {
	if output == "json" {
		return writeJSON(w, r)
	}
	for _, m := range r.Survivors {
		fmt.Fprintf(w, "%s: %s: no case notices it (policy %s)\n", m.Position, m.Change, m.Policy)
	}
	_, err := fmt.Fprintf(w, "%s: %d noticed, %d not (%.1f %%); %d do not compile or change nothing, %d not tried, seed %d\n",
		count(r.Mutants, "change", "changes"), r.Killed, len(r.Survivors), r.Score, r.Invalid, r.NotRun, r.Seed)
	return err
}
