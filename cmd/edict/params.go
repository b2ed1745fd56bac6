package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

type paramsFlags struct {
	origin
	output string
}

func paramsCommand() *cobra.Command {
	var f paramsFlags
	cmd := &cobra.Command{
		Use:   "params (--policies PATH | --policy-namespace NAMESPACE) [POLICY...]",
		Short: "List the params of policies: what may be set, and what is in force",
		Long: `Lists every param of the policies, or of those that are named: its type, the
value in force and who gave it, the default, what values are allowed, and what
it is for. With --policy-namespace the policies and the values are those of the
ConfigMaps of a namespace; where the controller has read them and others are in force,
these are listed.`,
		Example: "  edict params --policies policies storage-pool-eligibility",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	f.registerAll(cmd)
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table, yaml or json")
	return cmd
}

func (f *paramsFlags) run(ctx context.Context, out, errOut io.Writer, names []string) error {
	print, ok := paramPrinters[f.output]
	if !ok {
		return fmt.Errorf("unknown output %q: table, yaml or json", f.output)
	}
	f.inForce, f.about = true, names
	set, err := f.load(ctx, errOut)
	if err != nil {
		return err
	}
	chosen, broken, err := set.choose(names)
	if err != nil {
		return err
	}
	if err := print(out, shownParams(chosen)); err != nil {
		return err
	}
	if len(broken) > 0 {
		return found("what is printed lacks the params of these policies, which do not compile: %s", strings.Join(broken, ", "))
	}
	return nil
}
