package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/writer"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// process is a running controller: what stays while leadership comes and goes.
type process struct {
	Options
	// bundle are the policies of folders; without any, policies are followed in
	// ConfigMaps.
	bundle  *source.Bundle
	schemas *schema.Set
	// allowances are what the installation opens, guard holds policies to them.
	allowances []v1alpha1.Allowance
	guard      guard.Guard
	http       *http.Client
	mapper     meta.RESTMapper
	openapi    openapi.Client
	documents  documents
	client     kubernetes.Interface
	writer     *writer.Writer
	exports    *exports
	// shelf holds the ConfigMaps; onEdit is called when one has changed.
	shelf  *shelf
	onEdit atomic.Pointer[func()]
	// ledger is what is kept of the brakes; nil for policies of files.
	ledger *ledger
	// webhookReady reports whether the webhook is served.
	webhookReady atomic.Pointer[healthz.Checker]
	// term is the present one; nil while nothing runs.
	term atomic.Pointer[term]
	// leader reports whether this process leads, or need not.
	leader atomic.Bool
	// end ends the process, with the reason.
	end context.CancelCauseFunc
	// rego compiles and runs the Rego of policies.
	rego rego.Evaluator
	// fenced says that writes are refused because the lease may have expired.
	fenced atomic.Bool
	wg     sync.WaitGroup
}

// Run runs the controller until the context ends.
func Run(ctx context.Context, o Options) error {
	o.defaults()
	p, err := newProcess(o)
	if err != nil {
		return err
	}
	defer p.stopRego()
	ctx, p.end = context.WithCancelCause(ctx)
	defer p.end(nil)
	served, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	if err := p.serve(served); err != nil {
		return err
	}
	if err := p.open(served); err != nil {
		return err
	}
	if o.Election != nil {
		err = p.elect(ctx)
	} else {
		err = p.alone(ctx)
	}
	stopServing()
	p.writer.Stop()
	p.wg.Wait()
	p.http.CloseIdleConnections()
	if cause := context.Cause(ctx); errors.Is(cause, ErrRewound) {
		return cause
	}
	return err
}

// open begins to follow the ConfigMaps, and to judge them.
func (p *process) open(ctx context.Context) (err error) {
	if p.PolicyNamespace == "" {
		return nil
	}
	edited := func() {
		if tell := p.onEdit.Load(); tell != nil {
			(*tell)()
		}
	}
	if p.shelf, err = newShelf(ctx, p.client, p.PolicyNamespace, edited); err != nil {
		return err
	}
	braked := func() {
		if t := p.term.Load(); t != nil {
			t.brakes.nudge()
		}
	}
	if p.ledger, err = newLedger(ctx, p, braked); err != nil {
		return err
	}
	if p.Webhook == nil {
		return nil
	}
	return p.admit(ctx, p.client)
}

// alone runs the policies without asking anybody.
func (p *process) alone(ctx context.Context) error {
	p.leader.Store(true)
	t := p.newTerm(ctx)
	t.start()
	<-ctx.Done()
	return t.stop(p.StopTimeout)
}

func newProcess(o Options) (*process, error) {
	p := &process{Options: o, exports: newExports(), rego: evaluator(o)}
	if err := p.prepare(); err != nil {
		p.stopRego()
		return nil, err
	}
	return p, nil
}

// prepare does what needs no other process yet, and may fail.
func (p *process) prepare() error {
	if err := observe.Register(p.Registry); err != nil {
		return err
	}
	if err := p.load(); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	for _, policy := range p.bundle.Policies {
		if policy.Mode != plan.Disabled {
			p.exports.adopt(p, nil, policy)
		}
	}
	return nil
}

// load reads what stands in files.
func (p *process) load() error {
	if (len(p.Policies) == 0) == (p.PolicyNamespace == "") {
		return errors.New("policies come either from files (--policies) or from the ConfigMaps of a namespace (--policy-namespace)")
	}
	if p.PolicyServiceAccounts != "" && p.PolicyNamespace == "" {
		return errors.New("policies write as ServiceAccounts of the namespace that they are in: --policy-service-accounts needs --policy-namespace")
	}
	options := source.Options{Schemas: p.Schemas, Params: p.Params, Rego: p.rego}
	if p.PolicyNamespace != "" {
		options.Params = nil // their policies are not known yet
	}
	bundle, err := source.Load(p.Policies, options)
	if err != nil {
		return err
	}
	allowances, err := source.LoadAllowances(p.Allowances, p.Allow)
	if err != nil {
		return err
	}
	p.bundle, p.schemas = bundle, bundle.Schemas
	p.allowances = append(bundle.Allowances, allowances...)
	p.guard = guard.New(p.allowances)
	p.guard.Home = p.PolicyNamespace
	if p.PolicyNamespace != "" {
		return nil
	}
	return p.refuse(bundle)
}

// connect makes the clients.
func (p *process) connect() error {
	client, err := rest.HTTPClientFor(p.Config)
	if err != nil {
		return err
	}
	client.Transport = identity.Transport{RoundTripper: writer.Timeouts{RoundTripper: client.Transport, After: writer.RequestTimeout}}
	if p.mapper, err = apiutil.NewDynamicRESTMapper(p.Config, client); err != nil {
		return fmt.Errorf("asking the API server what it serves: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfigAndClient(p.Config, client)
	if err != nil {
		return err
	}
	client.Transport = &watches{RoundTripper: client.Transport, again: func() {
		observe.Reconnects.Inc()
		p.exports.watch(plan.WatchReconnect)
	}, opened: func(id string) {
		if t := p.term.Load(); t != nil {
			t.feeds.opened(id)
		}
	}}
	p.http, p.openapi = client, discoverer.OpenAPIV3()
	if p.client, err = kubernetes.NewForConfigAndClient(p.Config, client); err != nil {
		return err
	}
	if p.writer, err = writer.New(p.Config, client, p.mapper, p.Log); err != nil {
		return err
	}
	p.writer.Pace, p.writer.As = writer.NewPace(p.PolicyQPS), p.accounts().As
	return nil
}

// rivals returns what is to be reported of other writers of what a policy writes;
// "" is nothing.
func (p *process) rivals(policy string) string {
	if p.writer == nil {
		return ""
	}
	return p.writer.Rivals(policy)
}

// accounts are those that policies write as.
func (o *Options) accounts() identity.Accounts {
	return identity.Accounts{Namespace: o.PolicyNamespace, Prefix: o.PolicyServiceAccounts}
}

// refuse reports what cannot run. It is an error only if nothing is left.
func (p *process) refuse(b *source.Bundle) error {
	for _, problem := range b.Problems {
		level := slog.LevelWarn
		if problem.Severity == "error" {
			level = slog.LevelError
		}
		p.Log.Log(context.Background(), level, problem.Message, "at", problem.Position.String(), "hint", problem.Hint)
	}
	runnable := 0
	for _, policy := range b.Policies {
		if policy.Mode == plan.Disabled {
			continue
		}
		runnable++
		if err := p.answered(policy); err != nil {
			return err
		}
	}
	if runnable == 0 {
		if err := b.Err(); err != nil {
			return err
		}
		return errors.New("no policy that can run")
	}
	return nil
}

// answered says whom the policy asks that is not there.
func (p *process) answered(policy *plan.Policy) error {
	q := p.Answers.Lacking(policy.Queries)
	if q == "" {
		return nil
	}
	namespace, _, _ := strings.Cut(q, ".")
	return fmt.Errorf("policy %q calls %s, but no %s is configured; set the flags --%s-... of edict run", policy.Name, q, namespace, namespace)
}
