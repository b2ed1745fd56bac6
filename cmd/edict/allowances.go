package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/check"
)

func allowancesCommand() *cobra.Command {
	var f policyFiles
	cmd := &cobra.Command{
		Use:   "allowances PATH...",
		Short: "Print the Allowances document that policies need",
		Long: `Prints the Allowances document that the policies at each PATH need, as far as
their texts tell. Read it before you put it beside the policies or give it to the
controller: it opens what is protected. Nothing is printed for policies that need
nothing.`,
		Example: "  edict allowances policies > allowances.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			bundle, err := f.loadAll()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), check.Allowances(bundle.Policies))
			return err
		},
	}
	f.register(cmd)
	return f.takePaths(cmd, 1)
}
