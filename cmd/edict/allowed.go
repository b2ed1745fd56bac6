package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// guard returns what policies may do: what their installation allows, if it shows that in
// the namespace of the policies, and what the file beside them does. Installed is false
// where nothing is known of an installation; then it is the guard of a simulation.
func (f *worldFlags) guard(ctx context.Context, b *source.Bundle) (g guard.Guard, installed bool, err error) {
	if f.origin.namespace == "" {
		return guard.New(b.Allowances).Assuming(), false, nil
	}
	configMaps, err := f.origin.configMaps()
	if err != nil {
		return g, false, found("%v", err)
	}
	allowed, installed, err := configmap.ReadAllowances(ctx, configMaps)
	if err != nil {
		return g, false, found("%v", err)
	}
	if !installed {
		return guard.New(b.Allowances).Assuming(), false, nil
	}
	g = guard.New(slices.Concat(b.Allowances, allowed))
	g.Home = f.origin.namespace
	return g, true, nil
}

// standIn takes policies for those of the same name that they replace, whose ConfigMap
// an allowance may be bound to.
func standIn(policies, replaced []*plan.Policy) {
	for _, p := range policies {
		for _, old := range replaced {
			if old.Name == p.Name && p.Origin.ConfigMap == "" {
				p.Origin.ConfigMap = old.Origin.ConfigMap
			}
		}
	}
}

// printLacks prints the errors for which the controller would refuse policies.
func printLacks(errOut io.Writer, g *guard.Guard, policies []*plan.Policy) {
	for _, p := range policies {
		if p.Mode == plan.Disabled {
			continue
		}
		if lacks := guard.Problems(g.Lacks(p)); len(lacks) > 0 {
			fmt.Fprintf(errOut, "edict: the controller would refuse the policy %s: it lacks allowances\n", p.Name)
			printErrors(errOut, lacks)
		}
	}
}
