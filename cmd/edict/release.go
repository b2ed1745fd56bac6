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
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/release"
)

type releaseFlags struct {
	origin
	all, dryRun, delete bool
	accounts, selector  string
	timeout             time.Duration
}

func releaseCommand() *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use:   "release (SET... | --all) [-n NAMESPACE]\n  edict release (POLICY... | --all) -f PATH",
		Short: "Remove the finalizers of policies from their objects",
		Long: `Takes the finalizers of policies off all objects that have them. Finalizers of
others stay. A second run finds nothing to do.

The controller does so by itself when a PolicySet is deleted. This command ends a
deletion for which the account of the set lacks a permission, or no controller runs:
it uses your account. With --delete it deletes the sets, and waits for the controller
before. With -f see to it yourself that no controller runs them.`,
		Example: "  edict release storage -n edict-system",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.all == (len(args) > 0) {
				return errors.New("name what to release, or say --all")
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	f.register(cmd, namespaceOfSets)
	cmd.Flags().BoolVar(&f.all, "all", false, "release all sets, or policies")
	cmd.Flags().BoolVar(&f.delete, "delete", false, "delete the sets, and wait for the controller first")
	cmd.Flags().StringVar(&f.accounts, "policy-service-accounts", "", "remove them as the ServiceAccounts that the policies write as, as edict run is told")
	cmd.Flags().StringVar(&f.selector, "watch-label-selector", "", "only from objects with these labels, as edict run is told")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be removed, and change nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "how long the controller may take with --delete")
	return cmd
}

func (f *releaseFlags) run(ctx context.Context, out, errOut io.Writer, names []string) error {
	t := &tally{Writer: out, dryRun: f.dryRun}
	run := f.sets
	if len(f.policies) > 0 {
		run = f.files
	}
	if err := run(ctx, t, errOut, names); err != nil {
		return err
	}
	return t.end()
}

// files releases policies of files.
func (f *releaseFlags) files(ctx context.Context, t *tally, errOut io.Writer, names []string) error {
	set, err := f.load(ctx, errOut)
	if err != nil {
		return err
	}
	chosen, _, err := set.choose(names)
	if err != nil {
		return err
	}
	r, err := f.releaser(t)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		r.Release(ctx, p.ID(), release.CountsOf(p))
	}
	return nil
}

// sets releases the policies of sets, and then lets the sets go.
func (f *releaseFlags) sets(ctx context.Context, t *tally, errOut io.Writer, names []string) error {
	r, err := f.releaser(t)
	if err != nil {
		return err
	}
	chosen, err := f.named(ctx, names)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if chosen, err = f.wait(ctx, t, errOut, chosen); err != nil {
			return err
		}
	}
	for _, s := range chosen {
		r.Accounts.Namespace = s.Namespace
		if f.accounts != "" {
			r.Accounts.SetName(s.Name, s.Spec.ServiceAccountName)
		}
		failed := t.failed
		r.Release(ctx, s.Name+"/", release.CountsIn(s.Status.Finalizers))
		if failed < t.failed || f.dryRun {
			continue
		}
		if err := f.letGo(ctx, &s.PolicySet); err != nil {
			return found("removing the finalizer %s of the PolicySet %s/%s: %v", release.SetFinalizer, s.Namespace, s.Name, err)
		}
		if len(s.Finalizers) > 0 {
			t.refuse(s.Namespace+"/"+s.Name, "others hold the set by the finalizers "+strings.Join(s.Finalizers, ", "))
		}
	}
	return nil
}

// letGo removes our finalizer of a set, which the controller may do, too.
func (c *setClient) letGo(ctx context.Context, s *edictv1.PolicySet) error {
	return client.IgnoreNotFound(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			s.Finalizers = nil
			return err
		}
		before := s.DeepCopy()
		if !controllerutil.RemoveFinalizer(s, release.SetFinalizer) {
			return nil
		}
		return c.client.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner)
	}))
}

// named returns the sets with some names; all sets if there are none.
func (c *setClient) named(ctx context.Context, names []string) (out []*clusterSet, err error) {
	if len(names) == 0 {
		if err = c.home(ctx); err == nil {
			out, err = c.list(ctx)
		}
		if errors.Is(err, errNoCRD) {
			return nil, nil
		}
		return out, err
	}
	for _, name := range names {
		if _, policy := setNamed(name); policy != "" {
			return nil, found("%s is a policy: name its set, or use -f", name)
		}
		s, err := c.get(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// wait deletes sets, if that is asked for, and returns those that the controller has left after the
// timeout.
func (f *releaseFlags) wait(ctx context.Context, t *tally, errOut io.Writer, chosen []*clusterSet) (left []*clusterSet, err error) {
	names := map[client.ObjectKey]bool{}
	for _, s := range chosen {
		switch {
		case f.delete:
			if err := f.client.Delete(ctx, &s.PolicySet); client.IgnoreNotFound(err) != nil {
				return nil, found("deleting the PolicySet %s/%s: %v", s.Namespace, s.Name, err)
			}
			fmt.Fprintf(t, "%s/%s: deleted\n", s.Namespace, s.Name)
		case s.DeletionTimestamp == nil:
			return nil, found("the PolicySet %s/%s is not being deleted: its policies would set their finalizers again; delete it, or add --delete", s.Namespace, s.Name)
		}
		names[client.ObjectKeyFromObject(s)] = true
	}
	if !f.delete || len(chosen) == 0 {
		return chosen, nil
	}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, f.timeout, true, func(context.Context) (bool, error) {
		left, err = f.list(ctx) // the timeout ends no request
		left = slices.DeleteFunc(left, func(s *clusterSet) bool { return !names[client.ObjectKeyFromObject(s)] })
		return len(left) == 0, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		fmt.Fprintf(errOut, "no controller has released %s within %v; going on\n", count(len(left), "set", "sets"), f.timeout)
		err = nil
	}
	return left, err
}

// releaser returns a Releaser that reports to a tally.
func (f *releaseFlags) releaser(t *tally) (*release.Releaser, error) {
	config, err := f.restConfig()
	if err != nil {
		return nil, found("%v", err)
	}
	client, mapper, err := clusterMapper(config)
	if err != nil {
		return nil, found("%v", err)
	}
	client.Transport = identity.Transport{RoundTripper: client.Transport}
	objects, err := cluster.Metadata(config, client)
	if err != nil {
		return nil, err
	}
	return &release.Releaser{Client: objects, Mapper: mapper, Accounts: &identity.Accounts{Prefix: f.accounts}, Selector: f.selector, DryRun: t.dryRun, Report: t.add}, nil
}

// tally prints outcomes, a line each, and counts them.
type tally struct {
	io.Writer
	dryRun          bool
	removed, failed int
}

// refuse prints an object that cannot be released.
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
