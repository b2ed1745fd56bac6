package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/source"
)

type paramsFlags struct {
	policies, schemas, params []string
	output                    string
}

func paramsCommand() *cobra.Command {
	var f paramsFlags
	cmd := &cobra.Command{
		Use:   "params --policies PATH [POLICY...]",
		Short: "List the params of policies: what may be set, and what is in force",
		Long: `Lists every param of the policies, or of those that are named: its type, the
value in force and who gave it, the default, what values are allowed, and what
it is for.`,
		Example: "  edict params --policies policies storage-pool-eligibility",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.policies, "policies", nil, "a file or folder of policies; may repeat")
	flags.StringArrayVar(&f.params, "param", nil, "policy.name=value; may repeat")
	flags.StringArrayVar(&f.schemas, "schemas", nil, "a folder of CRDs; may repeat")
	flags.StringVarP(&f.output, "output", "o", "table", "table, yaml or json")
	if err := cmd.MarkFlagRequired("policies"); err != nil {
		panic(err)
	}
	return cmd
}

func (f *paramsFlags) run(out, errOut io.Writer, names []string) error {
	print, ok := paramPrinters[f.output]
	if !ok {
		return fmt.Errorf("unknown output %q: table, yaml or json", f.output)
	}
	params, err := parseParams(f.params)
	if err != nil {
		return err
	}
	bundle, err := source.Load(f.policies, source.Options{Schemas: f.schemas, Params: params})
	if err != nil {
		return found("%v", err)
	}
	if err := loaded(errOut, bundle); err != nil {
		return err
	}
	chosen, err := choose(bundle.Policies, names)
	if err != nil {
		return err
	}
	return print(out, shownParams(chosen))
}
