package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/source"
)

type rbacFlags struct {
	policies, schemas, params []string
	output, name              string
	any                       bool
}

func rbacCommand() *cobra.Command {
	var f rbacFlags
	cmd := &cobra.Command{
		Use:   "rbac PATH...",
		Short: "Print the permissions that policies need",
		Long: `Derives from the policies at each PATH what they must be allowed to do in the
cluster, and prints a ClusterRole, and a Role for every namespace that a policy
is narrowed to. Above each rule stands which policies need it. Disabled
policies need nothing, unless they are named with --policy.`,
		Example: "  edict rbac policies --name edict | kubectl apply -f -",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.policies, "policy", nil, "only this policy; may repeat")
	flags.StringVar(&f.name, "name", "edict", "the name of the roles")
	flags.StringArrayVar(&f.params, "param", nil, "policy.name=value; may repeat")
	flags.BoolVar(&f.any, "any-params", false, "print what any setting of the params may need, not only the one in force")
	flags.StringArrayVar(&f.schemas, "schemas", nil, "a folder of CRDs; may repeat")
	flags.StringVarP(&f.output, "output", "o", "yaml", "yaml, json or table")
	return cmd
}

var rbacPrinters = map[string]func(io.Writer, string, []rbac.Permission) error{
	"yaml": printRolesYAML, "json": printRolesJSON, "table": printRules,
}

func (f *rbacFlags) run(out, errOut io.Writer, paths []string) error {
	print, ok := rbacPrinters[f.output]
	if !ok {
		return fmt.Errorf("unknown output %q: yaml, json or table", f.output)
	}
	params, err := parseParams(f.params)
	if err != nil {
		return err
	}
	bundle, err := source.Load(paths, source.Options{Schemas: f.schemas, Params: params})
	if err != nil {
		return found("%v", err)
	}
	if err := loaded(errOut, bundle); err != nil {
		return err
	}
	chosen, err := choose(bundle.Policies, f.policies)
	if err != nil {
		return err
	}
	if len(f.policies) == 0 {
		chosen = running(chosen)
	}
	settings := plan.InForce
	if f.any {
		settings = plan.Any
	}
	permissions, err := rbac.Of(chosen, settings, bundle.Schemas.Resource)
	if err != nil {
		return found("%v", err)
	}
	return print(out, f.name, permissions)
}

// loaded prints the errors of a bundle, and refuses one that has some or holds
// no policy.
func loaded(w io.Writer, b *source.Bundle) error {
	for _, p := range b.Problems {
		if p.Severity == document.Error {
			printProblem(w, p)
		}
	}
	if b.Err() != nil {
		return findings{}
	}
	if len(b.Policies) == 0 {
		return found("%v", source.ErrNothing)
	}
	return nil
}
