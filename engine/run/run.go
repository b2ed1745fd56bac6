package run

import (
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run/policies"

	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/release"
	"github.com/edict-dev/edict/engine/run/check"
	kinds "github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/informers"
	"github.com/edict-dev/edict/engine/run/metrics"
	"github.com/edict-dev/edict/engine/run/tracing"
	"github.com/edict-dev/edict/engine/run/webhook"
	"github.com/edict-dev/edict/engine/run/writer"
	"github.com/edict-dev/edict/engine/source"
)

// Scheme has the built-in kinds of Kubernetes and PolicySet.
var Scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(errors.Join(clientgoscheme.AddToScheme(s), edictv1.AddToScheme(s)))
	return s
}

// process is a controller, whether it leads or not.
type process struct {
	options Options
	// bundle are the policies of files. Without any, those of ConfigMaps run.
	bundle atomic.Pointer[source.Bundle]
	// refused has the errors of files that were read last and do not run; nil if there are none.
	refused atomic.Pointer[string]
	// guard has the allowances of the policies.
	guard   atomic.Pointer[guard.Guard]
	http    *http.Client
	client  kubernetes.Interface
	kinds   *kinds.Kinds
	mapper  meta.RESTMapper
	writer  *writer.Writer
	metrics *metrics.Policies
	// events records Events about decisions; nil records none.
	events *events.Decisions
	// traces exports traces; nil makes none.
	traces *tracing.Exporter
	// rego compiles and evaluates the Rego of policies.
	rego rego.Evaluator
	// judge has new texts compiled and tested in another process; nil without one.
	judge *check.Judge
	// compiler compiles the policies of ConfigMaps, once judge accepts them.
	compiler *source.Compiler
	// children are the other processes.
	children []*child.Child
	// accounts are the accounts that policies write as.
	accounts *identity.Accounts
	// reconciler runs the policies of PolicySets, and webhook checks them before they are stored; nil
	// for policies of files.
	reconciler *policies.Reconciler
	webhook    *webhook.Server
	// begin is when the process began to compete for the lead.
	begin time.Time
	// lease is the lock of the leader election; nil without one.
	lease *lease
	// running is held while the policies run, or once they may not run any more.
	running sync.Mutex
	// manager is the manager that the reconciler is added to.
	manager manager.Manager
	// term runs the policies; nil while no policy runs.
	term atomic.Pointer[term]
	// leads reports whether this process leads, or needs no leader election.
	leads atomic.Bool
	// end ends the process, with the reason.
	end context.CancelCauseFunc
	wg  sync.WaitGroup
}

// Run runs the controller until the context ends.
func Run(ctx context.Context, o Options) error {
	if err := o.defaults(); err != nil {
		return err
	}
	p, err := newProcess(o)
	if err != nil {
		return err
	}
	defer p.stopChildren()
	if o.OTLPEndpoint != "" {
		if p.traces, err = tracing.New(ctx, o.OTLPEndpoint, o.Version, o.Log); err != nil {
			return err
		}
		defer p.traces.Stop()
	}
	recorder, stop := events.NewEventRecorder(p.client)
	defer stop()
	if o.DecisionEvents {
		p.events = events.NewDecisions(recorder)
	}
	ctx, p.end = context.WithCancelCause(ctx)
	defer p.end(nil)
	// The webhook's certificate is renewed until the policies have stopped.
	served, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	m, err := p.newManager(served, events.NewRecorder(recorder))
	if err != nil {
		return err
	}
	p.begin = time.Now()
	if err = m.Start(ctx); err != nil {
		p.writer.Close() // after an error the policies may still run: they write nothing any more
	}
	p.running.Lock()
	defer p.running.Unlock()
	stopServing()
	p.writer.Stop()
	p.wg.Wait()
	p.http.CloseIdleConnections()
	if cause := context.Cause(ctx); errors.Is(cause, informers.ErrRewound) {
		return cause
	}
	return err
}

// newManager returns a manager that runs the leader election, the servers and, while this
// process leads, the policies. What renews the webhook's certificate ends with the context.
func (p *process) newManager(ctx context.Context, recorder *events.Recorder) (manager.Manager, error) {
	o := &p.options
	options := manager.Options{
		Scheme:                  Scheme,
		Client:                  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&appsv1.ControllerRevision{}, &corev1.Event{}}}},
		MapperProvider:          func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return p.mapper, nil },
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{o.PolicyNamespace: {}}},
		Metrics:                 p.metricsOptions(),
		PprofBindAddress:        o.PprofAddress,
		GracefulShutdownTimeout: &o.StopTimeout,
	}
	if folder := o.MetricsCertDir; folder != "" {
		if _, err := os.Stat(filepath.Join(folder, "tls.crt")); err != nil {
			return nil, fmt.Errorf("the certificate for metrics: %w", err)
		}
	}
	if e := o.Election; e != nil {
		var err error
		if p.lease, err = newLease(o.Config, e, o.Log); err != nil {
			return nil, err
		}
		p.writer.Gate = p.lease.gate
		observe.LeaderTransitions.WithLabelValues("acquired")
		observe.LeaderTransitions.WithLabelValues("lost")
		options.LeaderElectionID = p.lease.Describe()
		options.LeaderElection, options.LeaderElectionResourceLockInterface, options.LeaderElectionReleaseOnCancel = true, p.lease, true
		options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &e.LeaseDuration, &e.RenewDeadline, &e.RetryPeriod
	}
	// The status and the history of PolicySets are written as objects are: only while this process leads.
	gated := &http.Client{Transport: writer.Gated{RoundTripper: p.http.Transport, Gate: p.writer.Gate}}
	options.Client.HTTPClient = gated
	m, err := manager.New(o.Config, options)
	if err != nil {
		return nil, err
	}
	if err := p.serve(m); err != nil {
		return nil, err
	}
	if o.PolicyNamespace != "" {
		if err := p.open(ctx, m, gated, recorder); err != nil {
			return nil, err
		}
	}
	return m, m.Add(p)
}

// open adds what runs and checks PolicySets to a manager.
func (p *process) open(ctx context.Context, m manager.Manager, gated *http.Client, recorder *events.Recorder) error {
	o := &p.options
	p.manager = m
	review, err := p.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("asking the API server who this process is: %w", err)
	}
	p.accounts.Own = review.Status.UserInfo.Username
	releaser := release.Releaser{Mapper: p.mapper, Accounts: p.accounts, Selector: o.WatchSelector.String()}
	if releaser.Client, err = cluster.Metadata(o.Config, gated); err != nil {
		return err
	}
	p.reconciler = policies.New(policies.Options{
		Client: m.GetClient(), Namespace: o.PolicyNamespace, Version: o.Version, Log: o.Log, Events: recorder, Checker: p.checker(false), Accounts: p.accounts,
		Params: o.Params, Releaser: releaser, SetGuard: p.setGuard,
	})
	if o.Webhook == nil {
		return nil
	}
	p.webhook = webhook.New(webhook.Options{
		Config: *o.Webhook, Client: p.client, Sets: m.GetClient(), Log: o.Log, Namespace: o.PolicyNamespace, Checker: p.checker(true), Overrides: o.Params,
		TryOut: func(ctx context.Context, policy *plan.Policy) error { return p.term.Load().tryOut(ctx, policy) },
	})
	return p.webhook.AddTo(ctx, m, p.wg.Go)
}

// setGuard sets what the policies of PolicySets may do.
func (p *process) setGuard(g guard.Guard) {
	p.guard.Store(&g)
	if t := p.term.Load(); t != nil {
		t.runtime.SetGuard(g)
	}
}

// follow adds the reconciler to the manager once the cluster has the CRD of PolicySets.
func (p *process) follow(ctx context.Context) {
	kind := schema.GroupKind{Group: edictv1.GroupVersion.Group, Kind: "PolicySet"}
	for told := false; ; told = true {
		_, err := p.mapper.RESTMapping(kind, edictv1.GroupVersion.Version)
		if err == nil {
			err = p.reconciler.SetupWithManager(p.manager)
		}
		if err == nil {
			return
		}
		if !told {
			p.options.Log.Error("PolicySets cannot be followed: if the cluster has no CRD for them, apply it: edict crd | kubectl apply --server-side --force-conflicts -f -", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(p.options.PollInterval):
		}
	}
}

// Start implements manager.Runnable: it runs the policies while this process leads.
func (p *process) Start(ctx context.Context) error {
	p.running.Lock()
	defer p.running.Unlock()
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	if p.lease != nil {
		p.lease.busy.Store(true)
		p.wg.Go(func() { p.lease.wait(work); cut() })
	}
	p.noteLead(true)
	err := p.runTerms(ctx, work)
	if work.Err() != nil {
		return errors.Join(err, errors.New("this process has ended its work: its Lease may have expired"))
	}
	if p.lease != nil && err == nil {
		p.lease.busy.Store(false)
	}
	return err
}

// runTerms runs the policies until one of two contexts ends: the second does when the Lease may have
// expired. Policies of files start again when these change.
func (p *process) runTerms(ctx, work context.Context) error {
	for {
		t := p.newTerm(ctx, work)
		t.start()
		until, end := context.WithCancel(ctx)
		stop := context.AfterFunc(work, end)
		if p.options.PolicyNamespace == "" {
			p.awaitFiles(until)
		} else {
			<-until.Done()
		}
		ended := until.Err() != nil
		stop()
		end()
		if ended {
			p.noteLead(false)
		}
		if err := t.stop(p.options.StopTimeout - min(time.Second, p.options.StopTimeout/2)); ended || err != nil {
			return err
		}
	}
}

// noteLead counts that this process begins to lead, or no longer does.
func (p *process) noteLead(leads bool) {
	value, transition, text := 0.0, "lost", "this process no longer leads"
	if leads {
		value, transition, text = 1, "acquired", "this process leads"
	}
	p.leads.Store(leads)
	observe.Leader.Set(value)
	if e := p.options.Election; e != nil {
		if leads {
			waited := time.Since(p.begin)
			observe.LeaderAcquire.Observe(waited.Seconds())
			p.metrics.Acquired(waited)
		}
		p.options.Log.Info(text, "lease", e.Namespace+"/"+e.Name, "identity", e.Identity)
		observe.LeaderTransitions.WithLabelValues(transition).Inc()
		p.metrics.Transition(leads)
	}
}

// checker returns what checks policies, for the webhook or for the controller.
func (p *process) checker(admitting bool) *check.Checker {
	return check.New(check.Options{
		Kinds: p.kinds, Judge: p.judge, Compiler: p.compiler, Guard: func() guard.Guard { return *p.guard.Load() }, Log: p.options.Log, Admitting: admitting,
	})
}

func newProcess(o Options) (*process, error) {
	p := &process{options: o, rego: rego.Local(), compiler: source.NewCompiler(rego.Local(), nil)}
	if len(o.ChildCommand) > 0 {
		evaluator, compiler := newRego(o), newCompiler(o)
		p.rego = rego.NewPausing(evaluator.Service(rego.Service, rego.MaxTime), observe.RegoRefused.Inc, time.Now)
		p.judge = check.NewJudge(compiler.Service)
		p.compiler = source.NewCompiler(p.rego, p.judge.Accept)
		p.children = []*child.Child{evaluator, compiler}
	}
	p.metrics = metrics.New(metrics.Options{
		Registry: o.Registry, Log: o.Log, Version: o.Version, Leading: p.leads.Load,
		Pending: p.pending,
	})
	if err := p.prepare(); err != nil {
		p.stopChildren()
		return nil, err
	}
	return p, nil
}

// stopChildren ends the other processes.
func (p *process) stopChildren() {
	for _, c := range p.children {
		c.Close()
	}
}

// prepare does what may fail before anything runs.
func (p *process) prepare() error {
	if err := errors.Join(observe.Register(p.options.Registry), p.options.Registry.Register(objectCounts{func() []*reconcile.Controller { return p.term.Load().controllers() }})); err != nil {
		return err
	}
	if err := p.load(); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	for _, policy := range p.bundle.Load().Policies {
		if policy.Mode != plan.Disabled {
			p.metrics.Replace(nil, policy)
		}
	}
	return nil
}

// load reads the files.
func (p *process) load() error {
	o := &p.options
	if (len(o.Policies) == 0) == (o.PolicyNamespace == "") {
		return errors.New("policies come either from files (--policies) or from the PolicySets of a namespace (--namespace)")
	}
	if o.PolicyServiceAccounts != "" && o.PolicyNamespace == "" {
		return errors.New("policies write as ServiceAccounts of the namespace that they are in: --policy-service-accounts needs --namespace")
	}
	bundle, err := p.readFiles()
	if err != nil {
		return err
	}
	allowances, err := source.LoadAllowances(o.Allowances, o.Allow)
	if err != nil {
		return err
	}
	p.bundle.Store(bundle)
	g := guard.New(allowances)
	g.Home = o.PolicyNamespace
	p.guard.Store(&g)
	if o.PolicyNamespace != "" {
		return nil
	}
	return runnable(bundle, o)
}

// connect makes the clients.
func (p *process) connect() error {
	config := p.options.Config
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	client.Transport = identity.Transport{RoundTripper: writer.Timeouts{RoundTripper: writer.Gated{RoundTripper: client.Transport}, After: writer.RequestTimeout}}
	if p.mapper, err = apiutil.NewDynamicRESTMapper(config, client); err != nil {
		return fmt.Errorf("asking the API server what it serves: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	client.Transport = &informers.WatchTransport{RoundTripper: client.Transport, Reconnected: func() {
		observe.Reconnects.Inc()
		p.metrics.Watch(plan.WatchReconnect)
	}, Opened: func(id string) { p.term.Load().watchOpened(id) }}
	p.http, p.kinds = client, kinds.New(p.mapper, discoverer.OpenAPIV3(), p.bundle.Load().Schemas, p.options.PollInterval)
	if p.client, err = kubernetes.NewForConfigAndClient(config, client); err != nil {
		return err
	}
	if p.writer, err = writer.New(config, client, p.mapper); err != nil {
		return err
	}
	p.accounts = &identity.Accounts{Namespace: p.options.PolicyNamespace, Prefix: p.options.PolicyServiceAccounts}
	p.writer.Pace, p.writer.As = writer.NewPace(p.options.PolicyQPS), p.accounts.As
	return nil
}
