package run

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/edict-dev/edict/engine/observe"
)

// Election says by which Lease processes agree who leads.
type Election struct {
	Namespace, Name string
	// Identity tells processes apart; "" is the host's name with the process ID.
	Identity string
	// LeaseDuration is how long a lease lasts without being renewed,
	// RenewDeadline how long its holder tries to renew it, RetryPeriod how long
	// everybody waits between tries. 0 is 15s, 10s and 2s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

func (e Election) withDefaults() (Election, error) {
	if e.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return e, err
		}
		e.Identity = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	for _, d := range []struct {
		at        *time.Duration
		otherwise time.Duration
	}{{&e.LeaseDuration, 15 * time.Second}, {&e.RenewDeadline, 10 * time.Second}, {&e.RetryPeriod, 2 * time.Second}} {
		if *d.at == 0 {
			*d.at = d.otherwise
		}
	}
	return e, nil
}

// margin is how long before the lease could expire the last write is sent.
const margin = time.Second

// lease notes when this process last renewed its lease: until when nobody else
// can have taken it.
type lease struct {
	resourcelock.Interface
	renewed atomic.Int64 // in nanoseconds; 0 for never
}

// Create implements resourcelock.Interface.
func (l *lease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(r, func() error { return l.Interface.Create(ctx, r) })
}

// Update implements resourcelock.Interface.
func (l *lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(r, func() error { return l.Interface.Update(ctx, r) })
}

func (l *lease) note(r resourcelock.LeaderElectionRecord, write func() error) error {
	begin := time.Now() // others count from when they see it, which is later
	err := write()
	if err == nil && r.HolderIdentity == l.Identity() {
		l.renewed.Store(begin.UnixNano())
	}
	return err
}

// until returns the time up to which writes are safe.
func (l *lease) until(duration time.Duration) time.Time {
	return time.Unix(0, l.renewed.Load()).Add(duration - margin)
}

// errNotLeading refuses writes of a process that others may have replaced.
// The work ends with the term, so it counts as canceled and not as failed.
var errNotLeading = fmt.Errorf("this process may no longer lead: %w", context.Canceled)

// elect runs the policies while this process leads, and competes again when it
// has lost.
func (p *process) elect(ctx context.Context) error {
	e, err := p.Election.withDefaults()
	if err != nil {
		return err
	}
	lock, err := p.lease(e)
	if err != nil {
		return err
	}
	p.writer.Gate = func() error {
		if time.Now().After(lock.until(e.LeaseDuration)) {
			if p.fenced.CompareAndSwap(false, true) {
				p.Log.Warn("nothing is written any more: the lease of this process may have expired", "lease", e.Namespace+"/"+e.Name)
			}
			return errNotLeading
		}
		p.fenced.Store(false)
		return nil
	}
	observe.Leader.Set(0)
	for ctx.Err() == nil {
		if err := p.compete(ctx, e, lock); err != nil {
			return err
		}
	}
	return nil
}

// lease makes the lock, with a client of its own: what the policies do does
// not slow the renewals down.
func (p *process) lease(e Election) (*lease, error) {
	config := rest.CopyConfig(p.Config)
	config.QPS, config.Burst, config.Timeout = -1, 0, e.RenewDeadline/2
	coordination, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, e.Namespace, e.Name, core, coordination, resourcelock.ResourceLockConfig{Identity: e.Identity})
	if err != nil {
		return nil, err
	}
	return &lease{Interface: lock}, nil
}

// compete waits for the lead, leads until it is lost or the context ends, and
// gives it up.
func (p *process) compete(ctx context.Context, e Election, lock *lease) error {
	begin := time.Now()
	// The lease is held until everything is written, so its context is not the
	// process's.
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	leads := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: e.Name, ReleaseOnCancel: true,
		LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leads) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("the leader election: %w", err)
	}
	lost := make(chan struct{})
	go func() { defer close(lost); elector.Run(holding) }()
	select {
	case <-ctx.Done():
		release()
		<-lost
		return nil
	case <-leads:
	}
	observe.LeaderAcquire.Observe(time.Since(begin).Seconds())
	p.exports.acquired(time.Since(begin))
	return p.lead(ctx, e, lock, release, lost)
}

// lead runs a term.
func (p *process) lead(ctx context.Context, e Election, lock *lease, release func(), lost chan struct{}) error {
	p.Log.Info("this process leads", "lease", e.Namespace+"/"+e.Name, "identity", e.Identity)
	observe.LeaderTransitions.WithLabelValues("acquired").Inc()
	observe.Leader.Set(1)
	p.exports.transition(true)
	p.leader.Store(true)
	t := p.newTerm(ctx)
	t.start()
	patience := p.StopTimeout
	select {
	case <-ctx.Done(): // the lease is still held: it goes when all is written
	case <-lost:
		patience = min(patience, max(time.Until(lock.until(e.LeaseDuration)), 0))
	}
	p.leader.Store(false)
	observe.Leader.Set(0)
	observe.LeaderTransitions.WithLabelValues("lost").Inc()
	p.exports.transition(false)
	err := t.stop(patience)
	p.Log.Info("this process no longer leads", "lease", e.Namespace+"/"+e.Name, "identity", e.Identity)
	release()
	<-lost
	return err
}
