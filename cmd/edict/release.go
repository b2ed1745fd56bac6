package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/release"
)

type releaseFlags struct {
	origin
	all, dryRun bool
	accounts    string
	timeout     time.Duration
}

func releaseCommand() *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use:   "release (POLICY... | --all) [-f PATH]",
		Short: "Remove the finalizers that policies have set",
		Long: `Takes the finalizers of policies off all objects that have them, so that nothing
is left that cannot be deleted when the policies no longer run. Finalizers of
others stay. A second run finds nothing to do.

The PolicySets are first disabled by spec.mode, and the controller is waited for; they
stay disabled. With -f see to it yourself that no controller runs the policies.`,
		Example: "  edict release --all -n edict-system",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.all == (len(args) > 0) {
				return errors.New("name the policies to release, or say --all")
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	f.register(cmd, namespaceOfSets)
	cmd.Flags().BoolVar(&f.all, "all", false, "release all policies")
	cmd.Flags().StringVar(&f.accounts, "policy-service-accounts", "", "remove them as the ServiceAccounts that the policies write as, as edict run is told")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be removed, and change nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "how long the controller may take to stop the policies")
	return cmd
}

func (f *releaseFlags) run(ctx context.Context, out, errOut io.Writer, names []string) error {
	f.about = names
	set, err := f.load(ctx, errOut)
	if err != nil {
		return err
	}
	t := &tally{Writer: out, dryRun: f.dryRun}
	chosen, err := f.choose(set, names, errOut, t)
	if err != nil {
		return err
	}
	config, err := f.restConfig()
	if err != nil {
		return found("%v", err)
	}
	r, err := releaser(config, t)
	if err != nil {
		return found("%v", err)
	}
	r.Accounts = &identity.Accounts{Namespace: f.Context.Namespace, Prefix: f.accounts}
	for _, p := range chosen {
		r.Accounts.SetName(p.Set, p.Account)
	}
	if err := f.stop(ctx, errOut, chosen); err != nil {
		return found("%v", err)
	}
	r.Policies(ctx, chosen)
	return t.end()
}

// choose returns the policies to release; what cannot be is told and counted. That
// there is none is no failure for who wants all released.
func (f *releaseFlags) choose(set *policySet, names []string, errOut io.Writer, t *tally) ([]*plan.Policy, error) {
	chosen, broken := set.policies, set.broken
	if !f.all {
		var err error
		if chosen, broken, err = set.choose(names); err != nil {
			return nil, err
		}
	}
	for _, id := range broken {
		t.refuse(id, "it is not known what it leaves behind while it does not compile")
	}
	if !f.all {
		return chosen, nil
	}
	for _, file := range set.unreadable {
		t.refuse(file, "it is not known which policies are in it while something in it cannot be read")
	}
	if len(chosen)+t.failed == 0 {
		fmt.Fprintf(errOut, "%v\n", set.nothing())
	}
	return chosen, nil
}

// stop disables the sets of policies and waits for the controller. That it does not
// answer is no reason to leave objects behind.
func (f *releaseFlags) stop(ctx context.Context, errOut io.Writer, chosen []*plan.Policy) error {
	if len(f.policies) > 0 || f.dryRun {
		return nil
	}
	names := map[string]bool{}
	for _, p := range chosen {
		names[p.Set] = true
	}
	for name := range names {
		set, err := f.get(ctx, name)
		if err == nil {
			err = f.patch(ctx, set, func(s *edictv1.PolicySet) { s.Spec.Mode = edictv1.ModeDisabled })
		}
		if err != nil {
			return err
		}
	}
	var running []string
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, f.timeout, true, func(context.Context) (bool, error) {
		all, err := f.list(ctx) // the timeout ends no request
		running = nil
		for _, s := range all {
			if names[s.Name] && !s.disabled() {
				running = append(running, s.Name)
			}
		}
		return len(running) == 0, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		fmt.Fprintf(errOut, "no controller has said within %v that it stopped the sets %s; going on, finalizers may come back\n", f.timeout, strings.Join(running, ", "))
		return nil
	}
	return err
}

// disabled reports whether all policies of a set are disabled according to its status.
func (s *clusterSet) disabled() bool {
	return s.Status.ObservedGeneration == s.Generation && !slices.ContainsFunc(s.Status.Policies, func(p edictv1.PolicyStatus) bool { return p.Reason != string(edictv1.ModeDisabled) })
}

func releaser(config *rest.Config, t *tally) (*release.Releaser, error) {
	client, mapper, err := clusterMapper(config)
	if err != nil {
		return nil, err
	}
	client.Transport = identity.Transport{RoundTripper: client.Transport}
	objects, err := cluster.Metadata(config, client)
	if err != nil {
		return nil, err
	}
	return &release.Releaser{Client: objects, Mapper: mapper, DryRun: t.dryRun, Report: t.add}, nil
}

// tally prints outcomes, a line each, and counts them.
type tally struct {
	io.Writer
	dryRun          bool
	removed, failed int
}

// refuse tells what cannot be released at all.
func (t *tally) refuse(what, why string) {
	t.failed++
	fmt.Fprintf(t, "%s: not released: %s\n", what, why)
}

func (t *tally) add(o release.Outcome) {
	object := o.Kind
	if name := strings.TrimPrefix(o.Object.Namespace+"/"+o.Object.Name, "/"); name != "" {
		object += " " + strings.TrimSuffix(name, "/")
	}
	names := strings.Join(o.Finalizers, ", ")
	switch {
	case o.Err != nil:
		t.failed++
		fmt.Fprintf(t, "%s: %s: not released from %s: %v\n", o.Policy, object, cmp.Or(names, "its finalizers"), o.Err)
	case t.dryRun:
		t.removed++
		fmt.Fprintf(t, "%s: %s: would be released from %s\n", o.Policy, object, names)
	default:
		t.removed++
		fmt.Fprintf(t, "%s: %s: released from %s\n", o.Policy, object, names)
	}
}

func (t *tally) end() error {
	verb := "released"
	if t.dryRun {
		verb = "to release"
	}
	fmt.Fprintf(t, "%s %s, %d failed\n", count(t.removed, "object", "objects"), verb, t.failed)
	if t.failed > 0 {
		return findings{}
	}
	return nil
}
