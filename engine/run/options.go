package run

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run/webhook"
	"github.com/edict-dev/edict/engine/selector"
)

// Options are what a controller runs with.
type Options struct {
	Config *rest.Config
	// Policies are files or folders.
	Policies []string
	// PolicyNamespace, instead of Policies, is where PolicySets are; they are followed while the
	// controller runs.
	PolicyNamespace string
	// Allowances are files with the protected writes and reads that are allowed to the policies of
	// files; a PolicySet has its own.
	Allowances []string
	// Allow are allowances themselves, each as in the list of such a file: the
	// authors of policies cannot change the arguments of the process.
	Allow []string
	// PolicyServiceAccounts begins the names of the ServiceAccounts that policies
	// write as, in PolicyNamespace; the names of their sets follow. "" is the process itself.
	PolicyServiceAccounts string
	// Schemas are folders of CRDs; kinds that the cluster serves are typed by
	// the cluster.
	Schemas []string
	Params  compile.Overrides
	// Answers are the external services that policies call, by builtin.
	Answers expr.Answerers
	// ChildCommand is a program, with its arguments but for a name, that calls child.Serve
	// with ChildMemory. In one such process the Rego of policies is compiled and run, in
	// another one new texts are compiled before they are here. None is for tests only, and
	// does that in this process alone.
	ChildCommand []string
	// ChildMemory is how much memory each of these processes may have, in bytes.
	ChildMemory int64
	// Workers is how many keys of one policy are reconciled at once; 0 is
	// DefaultWorkers.
	Workers int
	// MetricsAddress and ProbeAddress are where metrics and probes are served;
	// "" serves nothing.
	MetricsAddress, ProbeAddress string
	// MetricsSecure serves metrics by TLS, and only to users whom the API server
	// authenticates and allows to get their path. MetricsCertDir holds tls.crt and
	// tls.key for that; "" is a certificate that the process signs itself.
	MetricsSecure  bool
	MetricsCertDir string
	// PprofAddress is where profiles are served, on the loopback; "" serves none.
	PprofAddress string
	// Decisions is how many records of decisions are kept, for those who ask at
	// DecisionsAddress, on the loopback, or at that of the secured metrics, why the
	// controller decided so; 0 keeps none and evaluates anew when it is asked. An
	// address of "" serves none.
	Decisions        int
	DecisionsAddress string
	// Webhook is how PolicySets and their ConfigMaps are checked before they are stored; nil is not at all.
	// It needs a PolicyNamespace.
	Webhook *webhook.Config
	// Election is the leader election; nil runs the policies at once.
	Election *Election
	// WatchSelector selects by labels the objects of spec.for that this installation decides
	// about; nil is all of them. Inputs are read whole. Keys without an object belong to the
	// installation whose selector matches no labels.
	WatchSelector *selector.Selector
	// Brakes are the limits of what policies write; nil is the default.
	Brakes *brake.Settings
	// PolicyQPS is how many writes a second one policy may send; 0 is
	// DefaultPolicyQPS, less than 0 does not bound it.
	PolicyQPS int
	// StopTimeout is how long a stop may take: work under way, and what is
	// debounced. 0 is 45s.
	StopTimeout time.Duration
	// PollInterval is how often a waiting policy looks for its kinds; 0 is 2s.
	PollInterval time.Duration
	Log          *slog.Logger
	// Version is shown in the metrics of policies.
	Version string
	// DecisionEvents records Events about the objects of policies. The process then
	// needs create and patch of Events in their namespaces.
	DecisionEvents bool
	// OTLPEndpoint is the base URL of the OTLP collector that takes traces; "" traces
	// nothing.
	OTLPEndpoint string
	// Registry takes the metrics; nil makes one.
	Registry *prometheus.Registry
}

const (
	// DefaultWorkers is so many that an API server has always something to do while
	// others wait for the scheduler extender, or decide.
	DefaultWorkers = 32
	// DefaultPolicyQPS is more than an API server usually writes, which bounds the rate
	// by itself and is fair to others. It bounds what a mistake can do.
	DefaultPolicyQPS = 1000

	defaultPoll = 2 * time.Second
	defaultStop = 45 * time.Second
)

// handOver returns how long an object whose labels begin to match WatchSelector is left
// to the installation that decided about it before. After the duration of a Lease that one
// has seen the change, or writes nothing any more.
func (o *Options) handOver() time.Duration {
	if o.Election == nil {
		return defaultLeaseDuration
	}
	return o.Election.LeaseDuration
}

func (o *Options) defaults() error {
	o.Workers, o.PolicyQPS = cmp.Or(o.Workers, DefaultWorkers), cmp.Or(o.PolicyQPS, DefaultPolicyQPS)
	o.PollInterval, o.StopTimeout = cmp.Or(o.PollInterval, defaultPoll), cmp.Or(o.StopTimeout, defaultStop)
	o.Brakes = cmp.Or(o.Brakes, new(brake.DefaultSettings()))
	o.WatchSelector, o.Log = cmp.Or(o.WatchSelector, selector.Everything), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Registry = cmp.Or(o.Registry, prometheus.NewRegistry())
	if o.Election == nil {
		return nil
	}
	return o.Election.defaults()
}
