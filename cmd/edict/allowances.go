package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/source"
)

func allowancesCommand() *cobra.Command {
	var schemas []string
	var values paramValues
	cmd := &cobra.Command{
		Use:   "allowances PATH...",
		Short: "Print the Allowances document that policies need",
		Long: `Prints the Allowances document that the policies at each PATH need, as far as
their texts tell. Read it before you put it beside the policies or give it to the
controller: it opens what is protected. Nothing is printed for policies that need
nothing.`,
		Example: "  edict allowances policies > allowances.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params, err := values.overrides()
			if err != nil {
				return err
			}
			bundle, err := source.Load(args, source.Options{Schemas: schemas, Params: params})
			if err == nil {
				err = bundle.Err()
			}
			if err != nil {
				return found("%v", err)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), check.Allowances(bundle.Policies))
			return err
		},
	}
	values.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&schemas, "schemas", nil, "a folder of CRDs; may repeat")
	return cmd
}
