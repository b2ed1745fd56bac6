package main

import (
	"context"
	"fmt"
	"io"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// guard returns the allowances of the PolicySets of the namespace, and those of the file
// next to the policies. Installed is false for files alone; then it is the guard of a
// simulation.
func (f *worldFlags) guard(ctx context.Context, b *source.Bundle) (g guard.Guard, installed bool, err error) {
	if f.origin.Context.Namespace == "" {
		return simulate.GuardOf(b).Assuming(), false, nil
	}
	g = simulate.GuardOf(b)
	g.Home = f.origin.Context.Namespace
	if len(f.origin.policies) == 0 {
		return g, true, nil
	}
	all, err := f.origin.list(ctx)
	for _, s := range all {
		set := source.NewSet(&s.PolicySet)
		g.Add(set.Name, set.Pinned(), set.Allowances())
	}
	return g, true, err
}

// printLacks prints the errors for which the controller would refuse policies.
func printLacks(errOut io.Writer, g *guard.Guard, policies []*plan.Policy) {
	for _, p := range policies {
		if p.Mode == plan.Disabled {
			continue
		}
		if lacks := guard.Problems(g.Lacks(p)); len(lacks) > 0 {
			fmt.Fprintf(errOut, "edict: the controller would refuse the policy %s: it lacks allowances\n", p.ID())
			printErrors(errOut, lacks)
		}
	}
}
