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
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
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
	// Election lets several processes take turns; nil runs at once.
	Election *Election
	// StopTimeout is how long a stop may take: work under way, and what is
	// debounced. 0 is 45s.
	StopTimeout time.Duration
	// PollInterval is how often a waiting policy looks for its kinds; 0 is 2s.
	PollInterval time.Duration
	Log          *slog.Logger
	// Version is shown in the metrics of policies.
	Version string
	// Registry takes the metrics; nil makes one.
	Registry *prometheus.Registry
}

const (
	defaultWorkers = 10
	defaultPoll    = 2 * time.Second
	defaultStop    = 45 * time.Second
)

func (o *Options) defaults() {
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	if o.PollInterval == 0 {
		o.PollInterval = defaultPoll
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = defaultStop
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
}

// process is a running controller: what stays while leadership comes and goes.
type process struct {
	Options
	bundle  *source.Bundle
	http    *http.Client
	mapper  meta.RESTMapper
	writer  *writer
	exports *exports
	// term is the present one; nil while nothing runs.
	term atomic.Pointer[term]
	// leader says whether this process leads, or need not.
	leader atomic.Bool
	wg     sync.WaitGroup
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
	p, err := newProcess(o, bundle)
	if err != nil {
		return err
	}
	if err := p.refuse(bundle); err != nil {
		return err
	}
	served, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	if err := p.serve(served); err != nil {
		return err
	}
	if o.Election != nil {
		err = p.elect(ctx)
	} else {
		err = p.alone(ctx)
	}
	stopServing()
	p.writer.stop()
	p.wg.Wait()
	p.http.CloseIdleConnections()
	return err
}

// alone runs the policies without asking anybody.
func (p *process) alone(ctx context.Context) error {
	p.leader.Store(true)
	t := p.newTerm(ctx)
	t.start()
	<-ctx.Done()
	return t.stop(p.StopTimeout)
}

func newProcess(o Options, bundle *source.Bundle) (*process, error) {
	client, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(o.Config, client)
	if err != nil {
		return nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	p := &process{Options: o, bundle: bundle, http: client, mapper: mapper}
	client.Transport = &watches{RoundTripper: client.Transport, seen: map[string]bool{}, again: func() {
		observe.Reconnects.Inc()
		p.exports.watch(plan.WatchReconnect)
	}}
	if p.exports, err = newExports(p); err != nil {
		return nil, err
	}
	if p.writer, err = newWriter(o.Config, client, mapper, o.Log); err != nil {
		return nil, err
	}
	return p, observe.Register(o.Registry)
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
		if len(policy.Unsupported) > 0 && !policy.Disabled {
			p.Log.Error("the policy uses what this build cannot run", observe.LogPolicy, policy.Name, "at", policy.Unsupported[0].Position.String())
			policy.Disabled = true
		}
		if policy.Disabled {
			continue
		}
		runnable++
		if q := p.Answers.Lacking(policy.Queries); q != "" {
			namespace, _, _ := strings.Cut(q, ".")
			return fmt.Errorf("the policy %q asks %s, but %s is not configured: the settings --%s-... say where it is", policy.Name, q, namespace, namespace)
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
