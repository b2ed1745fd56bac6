package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/edict-dev/edict/engine/run/policies"
)

// waitFlags are those of edict wait.
type waitFlags struct {
	origin  origin
	status  string
	timeout time.Duration
	names   []string
}

func waitCommand() *cobra.Command {
	var f waitFlags
	cmd := &cobra.Command{
		Use:   "wait [POLICY...] [--policy-namespace NAMESPACE]",
		Short: "Wait until the controller has taken over the policies as they are in their ConfigMaps",
		Long: `Waits until the controller reports a status for the ConfigMaps that have the policies
that are named, or for all, as they are now: for their contents, the annotations for
modes and rollouts, and the params of the policies. A pipeline calls it after kubectl
apply.

With several replicas that share the work it waits until all of them have taken them
over. It names those that have not when the time is over.

After a change of the installation by the chart it also waits until the status is that
of the controller as it is installed now, with its version, arguments and allowances.

It ends with exit code 1 as soon as the controller has read everything and refuses a
policy or values for it, or its rollout has stopped, and says why. A policy that is
named and disabled is not active, whatever the others of its ConfigMap are. While a
revision comes into force in steps, the status is RollingOut.`,
		Example: "  kubectl apply -f policy.yaml && edict wait agent-node-label --policy-namespace edict-system --for active --timeout 60s",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.names = args
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.origin.namespace, "policy-namespace", defaultNamespace, "the namespace of the ConfigMaps with policies")
	flags.StringVar(&f.origin.kubeconfig, "kubeconfig", "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	flags.StringVar(&f.status, "for", "active", "the status to wait for, such as active, disabled or waiting")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "how long to wait")
	return cmd
}

// waitInterval is how often the ConfigMaps are looked at.
const waitInterval = 250 * time.Millisecond

func (f *waitFlags) run(ctx context.Context, out io.Writer) error {
	if !slices.ContainsFunc(policies.Statuses, func(one string) bool { return strings.EqualFold(one, f.status) }) {
		return fmt.Errorf("unknown status %q for --for: one of %s", f.status, strings.Join(policies.Statuses, ", "))
	}
	api, err := f.origin.configMaps()
	if err != nil {
		return found("%v", err)
	}
	var last waitLook
	err = wait.PollUntilContextTimeout(ctx, waitInterval, f.timeout, true, func(context.Context) (bool, error) {
		var err error // the timeout ends the waiting, not a request
		if last, err = f.look(ctx, api); err == nil && last.fails() {
			err = last.failure
		}
		return len(last.missing) == 0, err
	})
	switch {
	case err == nil:
		fmt.Fprintf(out, "%s: %s\n", f.what(), strings.ToLower(f.status))
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return found("not %s after %v:\n%s", strings.ToLower(f.status), f.timeout, strings.Join(last.missing, "\n"))
	default:
		return found("%v", err)
	}
}

func (f *waitFlags) what() string {
	if len(f.names) == 0 {
		return "all policies of the namespace " + f.origin.namespace
	}
	return strings.Join(f.names, ", ")
}
