package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// guard returns what policies may do: what their installation allows, if it shows that in
// the namespace of the policies, and what the file beside them does. Installed is false
// where nothing is known of an installation; then it is the guard of a simulation.
func (f *worldFlags) guard(ctx context.Context, b *source.Bundle, errOut io.Writer) (g guard.Guard, installed bool) {
	allowed, installed, err := f.allowances(ctx)
	if err != nil { // which is no reason to tell nothing else
		fmt.Fprintf(errOut, "edict: what the installation allows is not known, so what runs in Pods is taken as allowed: %v\n", err)
	}
	if !installed {
		return guard.New(b.Allowances).Assuming(), false
	}
	g = guard.New(slices.Concat(b.Allowances, allowed))
	g.Home = f.origin.namespace
	return g, true
}

// allowances returns those that the namespace of the policies shows; false is that there is
// no namespace, or nothing in it that shows them.
func (f *worldFlags) allowances(ctx context.Context) (allowed []v1alpha1.Allowance, known bool, err error) {
	if f.origin.namespace == "" {
		return nil, false, nil
	}
	configMaps, err := f.origin.configMaps()
	if err != nil {
		return nil, false, err
	}
	return configmap.ReadAllowances(ctx, configMaps)
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
