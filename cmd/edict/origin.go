package main

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/source"
)

// origin is where a command finds policies: files, or else the PolicySets of a
// namespace.
type origin struct {
	policyFiles
	setClient

	// inForce takes the active texts of the namespace, not the present ones; onlyRunning leaves
	// out policies that do not run.
	inForce, onlyRunning bool
	// about are the policies that are looked at; none means all.
	about []string
}

// register adds the flags; usage is that of --namespace.
func (o *origin) register(cmd *cobra.Command, usage string) {
	o.policyFiles.register(cmd)
	o.setClient.register(cmd.Flags(), usage)
}

// policySet is what was found.
type policySet struct {
	policies []*plan.Policy
	// broken are the IDs of those that do not compile, documents the names of the
	// documents that they are for a kind of.
	broken    []string
	documents map[string]string
	// where says where they were looked for.
	where string
	// resources says how their kinds are served.
	resources rbac.Resources
}

// load reads the policies; what is wrong with them is printed. It is an error
// only when nothing is left.
func (o *origin) load(ctx context.Context, errOut io.Writer) (*policySet, error) {
	if len(o.policies) == 0 {
		return o.fromCluster(ctx, errOut)
	}
	if o.Context.Namespace != "" {
		return nil, errors.New("policies come either from files or from the PolicySets of --namespace")
	}
	bundle, err := o.policyFiles.load(o.policies, source.Options{})
	if err != nil {
		return nil, err
	}
	if err := runnable(errOut, bundle); err != nil {
		return nil, err
	}
	return &policySet{policies: bundle.Policies, resources: bundle.Schemas.Resource}, nil
}

// choose returns the policies that are named, or all, and the IDs of those among
// them that do not compile.
func (s *policySet) choose(names []string) (chosen []*plan.Policy, broken []string, err error) {
	if len(names) == 0 {
		if len(s.policies)+len(s.broken) == 0 {
			return nil, nil, s.nothing()
		}
		return s.policies, s.broken, nil
	}
	var known []string
	for _, id := range s.broken {
		both := []string{id, nameOf(id), s.documents[id]}
		if slices.ContainsFunc(both, func(name string) bool { return slices.Contains(names, name) }) {
			broken, known = append(broken, id), append(known, both...)
		}
	}
	whole := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.Contains(known, name) && !slices.ContainsFunc(s.policies, func(p *plan.Policy) bool { return p.Named(name) })
	})
	if len(whole) > 0 {
		chosen, err = choose(s.policies, whole)
	}
	return chosen, broken, err
}

func (s *policySet) nothing() error { return found("%v %s", source.ErrNothing, s.where) }

// nameOf returns the name in a policy's ID.
func nameOf(id string) string { _, name := identity.ParsePolicyID(id); return name }

func printErrors(w io.Writer, problems []document.Problem) {
	for _, p := range problems {
		if p.Severity == document.Error {
			printProblem(w, p)
		}
	}
}
