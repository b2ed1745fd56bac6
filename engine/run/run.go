package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
)

// Options are what a controller runs with.
type Options struct {
	Config *rest.Config
	// Policies are files or folders.
	Policies []string
	// Schemas are folders of CRDs; kinds that the cluster serves are typed by
	// the cluster.
	Schemas []string
	Params  map[string]map[string]string
	// Answers are whom policies ask, by builtin.
	Answers expr.Answerers
	// Workers is how many keys of one policy are reconciled at once; 0 is 10.
	Workers int
	// MetricsAddress and ProbeAddress are where metrics and probes are served;
	// "" serves nothing.
	MetricsAddress, ProbeAddress string
	// PollInterval is how often a waiting policy looks for its kinds; 0 is 2s.
	PollInterval time.Duration
	Log          *slog.Logger
	// Registry takes the metrics; nil makes one.
	Registry *prometheus.Registry
}

const (
	defaultWorkers = 10
	defaultPoll    = 2 * time.Second
	// stopTimeout is how long work under way may take once the process is to
	// stop.
	stopTimeout = 25 * time.Second
)

func (o *Options) defaults() {
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	if o.PollInterval == 0 {
		o.PollInterval = defaultPoll
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
}

// process is a running controller.
type process struct {
	Options
	http   *http.Client
	mapper meta.RESTMapper
	store  *world.Store
	group  *reconcile.Group
	feeds  *feeds
	writer *writer

	// looked is done when every policy has once looked for its kinds.
	looked sync.WaitGroup

	mu    sync.Mutex
	ready map[string]bool
	wg    sync.WaitGroup
}

// Run runs the controller until the context ends.
func Run(ctx context.Context, o Options) error {
	o.defaults()
	ctrl.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
	klog.SetSlogLogger(o.Log)
	bundle, err := source.Load(o.Policies, source.Options{Schemas: o.Schemas, Params: o.Params})
	if err != nil {
		return err
	}
	p, err := newProcess(o)
	if err != nil {
		return err
	}
	p.group.Guard = guard.New(bundle.Allowances)
	if err := p.refuse(bundle); err != nil {
		return err
	}
	if err := p.serve(ctx); err != nil {
		return err
	}
	var starts []string
	for _, plan := range bundle.Policies {
		if plan.Disabled {
			o.Log.Info("the policy is disabled", observe.LogPolicy, plan.Name)
			continue
		}
		p.setReady(plan.Name, false)
		p.looked.Add(1)
		starts = append(starts, plan.Name)
	}
	for _, name := range starts {
		p.wg.Go(func() { p.supervise(ctx, bundle, name) })
	}
	<-ctx.Done()
	return p.stop()
}

func newProcess(o Options) (*process, error) {
	client, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(o.Config, client)
	if err != nil {
		return nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	p := &process{Options: o, http: client, mapper: mapper, store: world.NewStore(), ready: map[string]bool{}}
	writer, err := newWriter(o.Config, client, mapper, o.Log)
	if err != nil {
		return nil, err
	}
	p.writer = writer
	p.group = reconcile.NewGroup(p.store, writer, schema.NewSet(schema.Builtin()))
	p.group.Answers = o.Answers
	// Who wants to see everything gets the reasons as well.
	debug := o.Log.Enabled(context.Background(), slog.LevelDebug)
	p.group.Trace, p.group.Candidates = debug, debug
	p.feeds = newFeeds(p)
	if err := observe.Register(o.Registry); err != nil {
		return nil, err
	}
	return p, nil
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
	for _, plan := range b.Policies {
		if len(plan.Unsupported) > 0 && !plan.Disabled {
			p.Log.Error("the policy uses what this build cannot run", observe.LogPolicy, plan.Name, "at", plan.Unsupported[0].Position.String())
			plan.Disabled = true
		}
		if plan.Disabled {
			continue
		}
		runnable++
		if q := p.Answers.Lacking(plan.Queries); q != "" {
			namespace, _, _ := strings.Cut(q, ".")
			return fmt.Errorf("the policy %q asks %s, but %s is not configured: the settings --%s-... say where it is", plan.Name, q, namespace, namespace)
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

// stop waits for the work under way.
func (p *process) stop() error {
	done := make(chan struct{})
	go func() {
		p.wg.Wait()
		p.feeds.wait()
		p.writer.stop()
		close(done)
	}()
	select {
	case <-done:
		p.http.CloseIdleConnections()
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("work was still under way %v after the stop", stopTimeout)
	}
}

func (p *process) setReady(policy string, ready bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready[policy] = ready
}

// allReady says whether every policy has seen its first lists; one that waits
// for a kind holds nobody up.
func (p *process) allReady() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ready := range p.ready {
		if !ready {
			return false
		}
	}
	return true
}
