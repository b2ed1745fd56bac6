package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

func runCommand() *cobra.Command {
	var o run.Options
	var asks extenderFlags
	var hook webhookFlags
	var brakes brakeFlags
	var level, memory string
	var from clusterFlags
	var elect bool
	var watchLabelSelector string
	var election run.Election
	var params paramValues
	cmd := &cobra.Command{
		Use:   "run (--policies PATH | -n NAMESPACE)",
		Short: "Run the controller",
		Long: `Runs policies against a cluster. They come from files, or from the PolicySets of a
namespace and the ConfigMaps that these name, which are followed while the controller
runs. The status of a PolicySet has conditions.`,
		Example: "  edict run --kubeconfig ~/.kube/config --policies policies\n  edict run -n edict-system --leader-elect --leader-elect-namespace edict-system",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.PolicyNamespace = from.Context.Namespace
			if err := checkRun(&o, &election); err != nil {
				return err
			}
			var err error
			if elect && watchLabelSelector != "" && !cmd.Flags().Changed("leader-elect-name") {
				return errors.New("--watch-label-selector needs --leader-elect-name: each installation has a Lease of its own")
			}
			if o.WatchSelector, err = parseWatchLabelSelector(watchLabelSelector); err != nil {
				return err
			}
			if o.Params, err = params.overrides(); err != nil {
				return err
			}
			o.Brakes = &brakes.Settings
			if o.Log, err = logger(level, cmd.ErrOrStderr()); err != nil {
				return err
			}
			slog.SetDefault(o.Log) // of the servers of net/http, too
			ctrl.SetLogger(logr.FromSlogHandler(libraryLog{o.Log.Handler()}))
			klog.SetSlogLogger(slog.New(libraryLog{o.Log.Handler()}))
			if o.Config, err = from.restConfig(); err != nil {
				return found("%v", err)
			}
			o.Version = version
			if err := startApart(&o, memory); err != nil {
				return err
			}
			if elect {
				o.Election = &election
			}
			if o.Webhook, err = hook.webhook(o.PolicyNamespace); err != nil {
				return err
			}
			if err := asks.connect(&o); err != nil {
				return found("%v", err)
			}
			if err := run.Run(cmd.Context(), o); err != nil {
				return found("%v", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	from.register(flags, "the namespace of PolicySets, instead of --policies")
	flags.StringArrayVar(&o.Policies, "policies", nil, "a file or folder of policies; may repeat")
	flags.StringArrayVar(&o.Allowances, "allowances", nil, "an Allowances file for --policies: the protected writes and reads that are allowed; may repeat")
	flags.StringVar(&o.PolicyServiceAccounts, "policy-service-accounts", "", "policies write as the ServiceAccounts of their namespace with this prefix and the name of their set, unless it names another one, which the process has to be allowed to impersonate")
	flags.StringArrayVar(&o.Allow, "allow", nil, "an allowance, as in the list spec.allow of an Allowances file; may repeat")
	flags.StringArrayVar(&o.Schemas, "schemas", nil, "a folder of CRDs; may repeat")
	params.register(flags)
	flags.StringVar(&memory, "child-memory", defaultChildMemory, "how much memory each of two processes may have beside the controller: one compiles new policies, the other evaluates Rego and is started when a policy uses it")
	flags.IntVar(&o.Workers, "workers", run.DefaultWorkers, "number of primary objects of one policy that are reconciled concurrently")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", ":4272", "address of the metrics endpoint; empty disables it")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", false, "serve metrics by TLS, and only to those whom the API server allows to get /metrics")
	flags.StringVar(&o.MetricsCertDir, "metrics-cert-dir", "", "a folder with tls.crt and tls.key for --metrics-secure; they are read again when they change (default: a self-signed certificate)")
	flags.StringVar(&o.PprofAddress, "pprof-bind-address", "", "loopback address of the pprof endpoint, such as localhost:6060; empty disables it")
	flags.BoolVar(&o.DecisionEvents, "decision-events", false, "record an Event about an object when a rule fails for it, a selection finds nothing, or a decision is refused, and when that is over; needs create and patch of Events in its namespace")
	flags.StringVar(&o.OTLPEndpoint, "otlp-endpoint", "", "base URL of an OTLP collector that takes traces over HTTP, such as http://collector:4318; the variables OTEL_* set the rest (default: no traces)")
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", ":4271", "address of /healthz and /readyz; empty disables them")
	flags.IntVar(&o.Decisions, "decisions", 1024, "how many records of decisions are kept for edict explain and edict capture; 0 keeps none")
	flags.StringVar(&o.DecisionsAddress, "decisions-bind-address", "127.0.0.1:4273", "loopback address at which edict explain and edict capture ask for decisions; empty disables it")
	flags.StringVar(&level, "log-level", "info", "debug, info, warn or error")
	flags.IntVar(&o.PolicyQPS, "policy-qps", run.DefaultPolicyQPS, "how many writes a second one policy may send; the API server bounds it too, and is fair to others; negative does not bound it here")
	brakes.register(flags)
	asks.register(flags)
	hook.register(flags)
	flags.BoolVar(&elect, "leader-elect", false, "enable leader election: one process runs the policies, the others stand by")
	flags.StringVar(&election.Namespace, "leader-elect-namespace", "default", "the namespace of the Lease")
	flags.StringVar(&election.Name, "leader-elect-name", "edict", "the name of the Lease")
	flags.StringVar(&election.Identity, "leader-elect-identity", "", "leader election identity, one of its own for each process (default: the host's name and the process ID, which containers on one host network may have in common)")
	flags.DurationVar(&election.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "duration after which standbys may acquire a Lease that was not renewed")
	flags.DurationVar(&election.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "duration for which the leader retries to renew its Lease before it stops leading")
	flags.DurationVar(&election.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "interval between attempts to acquire or renew the Lease")
	flags.StringVar(&watchLabelSelector, "watch-label-selector", "", "decide only about objects of spec.for whose labels match; other installations, each with a Lease of its own, decide about the rest")
	flags.DurationVar(&o.StopTimeout, "stop-timeout", 45*time.Second, "how long a stop may take; what is debounced is run before it ends")
	cmd.MarkFlagsOneRequired("policies", "namespace")
	cmd.MarkFlagsMutuallyExclusive("policies", "namespace")
	return cmd
}

// parseWatchLabelSelector reads a selector as kubectl does; "" selects everything.
func parseWatchLabelSelector(text string) (*selector.Selector, error) {
	s, err := selector.Parse(value.OfString(text))
	if err != nil {
		return nil, fmt.Errorf("--watch-label-selector %q is not a label selector, such as shard=a or '!shard': %w", text, err)
	}
	return s, nil
}

// checkRun returns what is wrong with the arguments together.
func checkRun(o *run.Options, e *run.Election) error {
	switch {
	case e.LeaseDuration%time.Second != 0:
		return fmt.Errorf("--leader-elect-lease-duration must be in whole seconds, as a Lease has it: %v", e.LeaseDuration)
	case o.Workers < 1:
		return errors.New("--workers must be at least 1")
	case o.StopTimeout < 0:
		return errors.New("--stop-timeout must not be negative")
	case o.MetricsAddress != "" && o.MetricsAddress == o.ProbeAddress:
		return fmt.Errorf("--metrics-bind-address and --health-probe-bind-address must differ: %q", o.MetricsAddress)
	case o.PprofAddress != "" && !run.IsLoopback(o.PprofAddress):
		return fmt.Errorf("--pprof-bind-address must be on the loopback, such as localhost:6060: profiles show what is in memory: %q", o.PprofAddress)
	case o.DecisionsAddress != "" && !run.IsLoopback(o.DecisionsAddress):
		return fmt.Errorf("--decisions-bind-address must be on the loopback, such as localhost:4273: decisions show objects: %q", o.DecisionsAddress)
	default:
		return nil
	}
}

func logger(level string, w io.Writer) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
}
