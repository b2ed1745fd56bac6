// Package policies runs the policies of the ConfigMaps of a namespace. Its Manager
// follows the ConfigMaps: it has the policies checked and tested, assigns revisions to
// their controllers, keeps the history, and writes the status into the ConfigMaps.
package policies

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// Options are what a Manager needs.
type Options struct {
	Client kubernetes.Interface
	// Namespace is that of the ConfigMaps.
	Namespace string
	// Installation names that of the process, for the status.
	Installation string

	Log     *slog.Logger
	Store   *configmap.Store
	Checker *check.Checker
	Runtime *controller.Runtime
	// Params are values from the command line. They take precedence over those of
	// ConfigMaps.
	Params compile.Overrides
	// Poll is the interval between attempts to read the history.
	Poll time.Duration
}

// Manager keeps the policies of the ConfigMaps running.
type Manager struct {
	options  Options
	policies *lifecycle.Registry
	// wake holds an item when something may have changed.
	wake  chan struct{}
	cache configmap.Cache
	tests *check.TestRunner
	// behind reports that the ConfigMaps were not read yet, or not all assigned
	// policies have reported.
	behind atomic.Bool

	history    *historyStore
	assigner   *assigner
	rollouts   *rollouts
	reporter   *reporter
	unlabelled *unlabelled
	status     *statusWriter
	shadows    *shadowWriter
	errors     *configMapErrors
	rechecks   *check.Rechecker
	// catalog is the catalog of the last check.
	catalog *source.Catalog
	// first reports that the ConfigMaps were not looked at yet.
	first bool
	// problems are what fails of the policies, by ID.
	problems map[string]string
	// unfinished reports that a status or a revision could not be written.
	unfinished bool
}

const (
	// gatherInterval is how long changes are gathered: an edit of several ConfigMaps
	// is one.
	gatherInterval = 20 * time.Millisecond
	// recheckInterval is the interval between checks of refused texts: the types of the
	// cluster change without an edit.
	recheckInterval = 15 * time.Second
	// healthInterval is the interval between updates of the status by what fails.
	healthInterval = 2 * time.Second
)

// New returns a Manager that does not run yet.
func New(o Options) *Manager {
	m := &Manager{options: o, policies: o.Runtime.Policies(), wake: make(chan struct{}, 1), tests: check.NewTestRunner(o.Checker), rechecks: check.NewRechecker(o.Checker), first: true}
	m.behind.Store(true)
	m.history = newHistoryStore(o.Client, o.Namespace, o.Checker, o.Log)
	m.rollouts = newRollouts(rolloutOptions{
		policies: m.policies, history: m.history, steps: o.Runtime, brakes: o.Runtime.Brakes().State, client: o.Client, namespace: o.Namespace, log: o.Log,
	})
	m.history.stepped = m.rollouts.stepped
	m.unlabelled = newUnlabelled(o.Client, o.Namespace, o.Store)
	m.assigner = &assigner{policies: m.policies, history: m.history, runtime: o.Runtime, rollouts: m.rollouts, annotations: m.unlabelled.annotations}
	m.reporter = &reporter{namespace: o.Namespace, installation: o.Installation, policies: m.policies, runtime: o.Runtime, known: m.assigner.known, place: m.history.place, nothing: m.history.nothingRuns, rollouts: m.rollouts.text}
	m.errors = newConfigMapErrors(o.Log)
	m.shadows = &shadowWriter{client: o.Client, store: o.Store, policies: m.policies, reports: o.Runtime.ShadowReports, log: o.Log}
	return m
}

// Nudge has the ConfigMaps looked at soon.
func (m *Manager) Nudge() {
	select {
	case m.wake <- struct{}{}:
	default: // there is one already
	}
}

// Ready reports whether the ConfigMaps were read and all policies have reported.
func (m *Manager) Ready() bool { return !m.behind.Load() }

// Run follows the ConfigMaps until the context ends.
func (m *Manager) Run(ctx context.Context) error {
	defer m.unmeasure()
	recorder, stop := events.NewEventRecorder(m.options.Client)
	defer stop()
	m.status = &statusWriter{client: m.options.Client, log: m.options.Log, events: events.NewRecorder(recorder), written: map[string]writing{}}
	m.assigner.orphaned = func(id string, o plan.Orphans, u *source.Unit) { m.unlabelled.recordOrphans(recorder, id, o, u) }
	m.assigner.stopped = func(id string, u *source.Unit, c *source.Catalog) { m.unlabelled.recordStop(recorder, id, u, c) }
	if !m.options.Store.Wait(ctx) {
		return ctx.Err()
	}
	m.retry(ctx, "the last good revisions cannot be read", m.history.read)
	m.retry(ctx, "how far rollouts have come cannot be read", m.rollouts.read)
	m.unlabelled.find(ctx)
	if !m.options.Runtime.StartBrakes() {
		return ctx.Err()
	}
	return m.loop(ctx)
}

func (m *Manager) loop(ctx context.Context) error {
	shadows := time.NewTicker(shadowInterval)
	defer shadows.Stop()
	rechecks := time.NewTicker(recheckInterval)
	defer rechecks.Stop()
	healths := time.NewTicker(healthInterval)
	defer healths.Stop()
	for {
		if err := survive(m.options.Log, func() error { return m.look(ctx) }); err != nil {
			m.options.Log.Error("the policies cannot be brought up to date, and will be tried again", "error", err.Error())
			time.AfterFunc(time.Second, m.Nudge)
		}
		if !m.await(ctx, shadows.C, rechecks.C, healths.C) {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(gatherInterval):
		}
	}
}

// await does what is due from time to time until the ConfigMaps are to be looked at. It
// returns false when the context has ended.
func (m *Manager) await(ctx context.Context, shadows, rechecks, healths <-chan time.Time) bool {
	for woken := false; !woken; {
		select {
		case <-ctx.Done():
			return false
		case <-shadows:
			_ = survive(m.options.Log, func() error { m.shadows.write(ctx); return nil })
		case <-rechecks:
			woken = m.history.confirmStopped(ctx)
			woken = m.recheck(ctx) || woken
		case <-healths:
			_ = survive(m.options.Log, func() error { woken = m.health(ctx, time.Now()); return nil }) // it is due again
		case <-m.wake:
			woken = true
		case done := <-m.rechecks.Ended():
			woken = m.rechecks.Complete(done, m.policies)
		case done := <-m.tests.Ended():
			m.tests.Complete(done, m.policies)
			woken = true
		}
	}
	return true
}

// health looks at how the revisions in force do, and reports whether anything has changed.
func (m *Manager) health(ctx context.Context, now time.Time) bool {
	m.status.flush(now)
	rolled := m.rollouts.check(ctx, now)
	return m.problemsChanged() || m.status.due(now) || rolled
}

// retry reads what another process has left, while that may help: without the last good
// revisions a policy whose text is broken would not run, and a rollout would begin anew.
func (m *Manager) retry(ctx context.Context, failed string, read func(context.Context) error) {
	for ctx.Err() == nil {
		err := read(ctx)
		if err == nil {
			return
		}
		m.options.Log.Error(failed, "error", err.Error())
		if apierrors.IsForbidden(err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(m.options.Poll):
		}
	}
}
