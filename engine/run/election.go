package run

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/edict-dev/edict/engine/observe"
)

// LeaseName returns the name of the Lease of an installation: base, or if it decides about
// selected objects only, base with a hash of the text of its selector. Each installation has
// its own leader.
func LeaseName(base, watchLabelSelector string) string {
	if watchLabelSelector == "" {
		return base
	}
	return fmt.Sprintf("%s-%x", base, sha256.Sum256([]byte(watchLabelSelector)))[:len(base)+1+8]
}

// Election is the Lease and the timing of the leader election.
type Election struct {
	Namespace, Name string
	// Identity is that of this process; "" is the host's name with the process ID.
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
	}{{&e.LeaseDuration, defaultLeaseDuration}, {&e.RenewDeadline, 10 * time.Second}, {&e.RetryPeriod, 2 * time.Second}} {
		if *d.at == 0 {
			*d.at = d.otherwise
		}
	}
	return e, nil
}

const defaultLeaseDuration = 15 * time.Second

// margin is how long before the lease could expire the last write is sent.
const margin = time.Second

// lease notes when this process last renewed its lease: until then no other process
// can have taken it.
type lease struct {
	resourcelock.Interface
	renewed instant
	// holder is who held the lease when it was last read. An elector reads and writes it one
	// after the other.
	holder string
	// ending says that this process has finished its work and releases the lease.
	ending atomic.Bool
}

// Get implements resourcelock.Interface.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = r.HolderIdentity
	}
	return r, raw, err
}

// Create implements resourcelock.Interface.
func (l *lease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(r, func() error { return l.Interface.Create(ctx, r) })
}

// Update implements resourcelock.Interface. The elector of client-go reads the lease before
// it releases it, but does not look at who holds it by then: a lease that another process
// holds is not released, or a third one could take it. The elector also releases a lease
// that it could not renew in time: that one expires instead, because what is under way is
// still written.
func (l *lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if r.HolderIdentity == "" {
		if !l.ending.Load() || l.holder != l.Identity() {
			return nil
		}
		l.renewed.set(time.Time{}) // work that did not end in time writes nothing from here on
	}
	return l.note(r, func() error { return l.Interface.Update(ctx, r) })
}

func (l *lease) note(r resourcelock.LeaderElectionRecord, write func() error) error {
	begin := time.Now() // others count from when they see it, which is later
	err := write()
	if err == nil && r.HolderIdentity == l.Identity() {
		l.renewed.set(begin)
	}
	return err
}

// until returns the time up to which writes are safe.
func (l *lease) until(duration time.Duration) time.Time {
	return l.renewed.get().Add(duration - margin)
}

// errNotLeading refuses writes of a process that others may have replaced.
// The work ends with the term, so it counts as canceled and not as failed.
var errNotLeading = fmt.Errorf("this process may no longer lead: %w", context.Canceled)

// elector runs the policies while this process leads.
type elector struct {
	process *process
	config  Election
	lock    *lease
	// fenced reports that writes are refused because the lease may have expired.
	fenced atomic.Bool
}

func newElector(p *process) *elector { return &elector{process: p} }

// run competes for leadership until the context ends, again when it was lost.
func (e *elector) run(ctx context.Context) (err error) {
	if e.config, err = e.process.options.Election.withDefaults(); err != nil {
		return err
	}
	if e.lock, err = newLease(e.process.options.Config, e.config); err != nil {
		return err
	}
	e.process.writer.Gate = e.gate
	observe.Leader.Set(0)
	for ctx.Err() == nil {
		if err := e.compete(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gate returns an error when the lease may have expired, and another process may lead.
func (e *elector) gate(context.Context) error {
	if over(e.lock.until(e.config.LeaseDuration)) {
		if e.fenced.CompareAndSwap(false, true) {
			e.process.options.Log.Warn("nothing is written any more: the lease of this process may have expired", "lease", e.config.Namespace+"/"+e.config.Name)
		}
		return errNotLeading
	}
	e.fenced.Store(false)
	return nil
}

// newLease makes the lock, with a client of its own: the requests of policies do not
// delay renewals.
func newLease(of *rest.Config, e Election) (*lease, error) {
	coordination, err := e.client(of)
	if err != nil {
		return nil, err
	}
	return e.lockOf(coordination, e.Name), nil
}

// client makes a client for Leases.
func (e *Election) client(of *rest.Config) (coordinationv1.LeasesGetter, error) {
	config := rest.CopyConfig(of)
	config.QPS, config.Burst, config.Timeout = -1, 0, e.RenewDeadline/2
	return coordinationv1.NewForConfig(config)
}

// lockOf makes the lock of a Lease.
func (e *Election) lockOf(client coordinationv1.LeasesGetter, name string) *lease {
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: name}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}
	return &lease{Interface: lock}
}

// elect competes for a lock in the background. Leads is closed when the lock is acquired,
// lost when it is not held any more, after release at the latest. It is held until
// everything is written, so it outlives the context.
func (e *Election) elect(ctx context.Context, lock *lease) (leads, lost chan struct{}, release func(), err error) {
	holding, cancel := context.WithCancel(context.WithoutCancel(ctx))
	lock.ending.Store(false)
	release = func() {
		lock.ending.Store(true)
		cancel()
	}
	leads, lost = make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: lock.Describe(), ReleaseOnCancel: true,
		LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leads) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		release()
		return nil, nil, nil, fmt.Errorf("the leader election: %w", err)
	}
	go func() { defer close(lost); elector.Run(holding) }()
	return leads, lost, release, nil
}

// acquire waits until a lock is acquired; false is that the context ended before, and
// that the lock is released.
func acquire(ctx context.Context, leads, lost <-chan struct{}, release func()) bool {
	select {
	case <-ctx.Done():
		release()
		<-lost
		return false
	case <-leads:
		return true
	}
}

// compete waits for the lead, leads until it is lost or the context ends, and
// gives it up.
func (e *elector) compete(ctx context.Context) error {
	c := &e.config
	begin := time.Now()
	leads, lost, release, err := c.elect(ctx, e.lock)
	if err != nil {
		return err
	}
	defer release()
	if !acquire(ctx, leads, lost, release) {
		return nil
	}
	return e.lead(ctx, time.Since(begin), release, lost)
}

// noteLead counts that this process begins to lead, for which it has waited, or no longer
// does.
func (p *process) noteLead(leads bool, waited time.Duration) {
	value, transition := 0.0, "lost"
	if leads {
		value, transition = 1, "acquired"
		observe.LeaderAcquire.Observe(waited.Seconds())
		p.metrics.Acquired(waited)
	}
	p.leads.Store(leads)
	observe.Leader.Set(value)
	observe.LeaderTransitions.WithLabelValues(transition).Inc()
	p.metrics.Transition(leads)
}

// lead runs a term.
func (e *elector) lead(ctx context.Context, waited time.Duration, release func(), lost chan struct{}) error {
	p, c := e.process, &e.config
	p.options.Log.Info("this process leads", "lease", c.Namespace+"/"+c.Name, "identity", c.Identity)
	p.noteLead(true, waited)
	t := p.newTerm(ctx)
	t.start()
	timeout := p.options.StopTimeout
	select {
	case <-ctx.Done(): // the lease is still held: it goes when all is written
	case <-lost:
		timeout = min(timeout, max(time.Until(e.lock.until(c.LeaseDuration)), 0))
	}
	p.noteLead(false, 0)
	err := t.stop(timeout)
	p.options.Log.Info("this process no longer leads", "lease", c.Namespace+"/"+c.Name, "identity", c.Identity)
	release()
	<-lost
	return err
}
