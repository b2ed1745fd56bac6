package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
)

type rbacFlags struct {
	origin
	only         []string
	output, name string
	any          bool
	bind         bindFlags
}

func rbacCommand() *cobra.Command {
	var f rbacFlags
	cmd := &cobra.Command{
		Use:   "rbac [PATH...]",
		Short: "Print the permissions that policies need",
		Long: `Derives from the policies at each PATH, or else of the PolicySets of a namespace, what
they must be allowed to do in the cluster, and prints a ClusterRole, and a Role
for every namespace that a policy is narrowed to. Above each rule stands which
policies need it. Disabled policies need nothing, unless they are named with
--policy.

With --bind each policy has roles of its own, NAME-POLICY, which are bound as the
chart binds them: to the ServiceAccount that the policy writes as, and what it
reads to that of the controller, which reads for all of them.`,
		Example: `  edict rbac policies --name edict | kubectl apply -f -
  edict rbac mine.yaml --bind edict-system | kubectl apply -f -`,
		RunE: withOutputs(f.run),
	}
	f.register(cmd, namespaceOfSets)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.only, "policy", nil, "only this policy; may repeat")
	flags.StringVar(&f.name, "name", "edict", "the name of the roles")
	flags.BoolVar(&f.any, "any-params", false, "print what any setting of the params may need, not only the one in force")
	f.bind.register(flags)
	outputFlag(cmd, &f.output, "yaml", "json", "table")
	return f.takePaths(cmd, 0)
}

var rbacPrinters = map[string]func(io.Writer, []role) error{
	"yaml": printRolesYAML, "json": printRolesJSON, "table": printRules,
}

func (f *rbacFlags) run(ctx context.Context, out, errOut io.Writer) error {
	set, err := f.load(ctx, errOut)
	if err != nil {
		return err
	}
	chosen, broken, err := set.choose(f.only)
	if err != nil {
		return err
	}
	if len(f.only) == 0 {
		chosen = running(chosen)
	}
	settings := plan.InForce
	if f.any {
		settings = plan.Any
	}
	permissions, err := rbac.Of(chosen, settings, set.resources)
	if err != nil {
		return found("%v", err)
	}
	list := roles(f.name, permissions)
	if f.bind.namespace != "" {
		list = f.bind.roles(f.name, permissions)
	}
	if err := rbacPrinters[f.output](out, list); err != nil {
		return err
	}
	if len(broken) > 0 {
		return found("what is printed lacks what these policies need, which do not compile: %s", strings.Join(broken, ", "))
	}
	return nil
}
