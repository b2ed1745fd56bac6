package run

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

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

const defaultLeaseDuration = 15 * time.Second

// defaults sets what is not given.
func (e *Election) defaults() error {
	if e.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		e.Identity = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	e.LeaseDuration, e.RenewDeadline = cmp.Or(e.LeaseDuration, defaultLeaseDuration), cmp.Or(e.RenewDeadline, 10*time.Second)
	e.RetryPeriod = cmp.Or(e.RetryPeriod, 2*time.Second)
	return nil
}

// margin is how long before the lease could expire the last write is sent.
const margin = time.Second

// errNotLeading refuses writes of a process that others may have replaced.
// The work ends with the process, so it counts as canceled and not as failed.
var errNotLeading = fmt.Errorf("this process may no longer lead: %w", context.Canceled)

// lease is the lock of the leader election. It notes when this process last renewed the
// Lease: until it expires no other process can have taken it.
type lease struct {
	resourcelock.Interface
	log      *slog.Logger
	duration time.Duration
	renewed  atomic.Pointer[time.Time]
	// holder is who held the Lease when it was last read. The elector reads and writes it one
	// after the other.
	holder string
	// busy reports that something may still be written, so that the Lease must not be released.
	busy atomic.Bool
	// fenced reports that writes are refused because the Lease may have expired.
	fenced atomic.Bool
}

// newLease makes the lock of an election, with a client of its own: the requests of policies
// do not delay renewals.
func newLease(of *rest.Config, e *Election, log *slog.Logger) (*lease, error) {
	config := rest.CopyConfig(of)
	config.QPS, config.Burst, config.Timeout = -1, 0, e.RenewDeadline/2
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return e.lock(client, log), nil
}

func (e *Election) lock(client coordinationv1.LeasesGetter, log *slog.Logger) *lease {
	return &lease{log: log, duration: e.LeaseDuration, Interface: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}}
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

// Update implements resourcelock.Interface. The elector of client-go reads the Lease before
// it releases it, but ignores the holder: a Lease of another process is not released, or a
// third one could take it. The elector also releases a Lease that it could not renew in time,
// and the manager one whose process did not stop in time: these expire instead, because work
// in progress is still written.
func (l *lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if r.HolderIdentity == "" {
		if l.busy.Load() || l.holder != l.Identity() {
			return nil
		}
		l.renewed.Store(nil) // work that continues writes nothing
	}
	return l.note(r, func() error { return l.Interface.Update(ctx, r) })
}

func (l *lease) note(r resourcelock.LeaderElectionRecord, write func() error) error {
	begin := time.Now() // others count from when they see it, which is later
	err := write()
	if err == nil && r.HolderIdentity == l.Identity() {
		l.renewed.Store(&begin)
	}
	return err
}

// until returns the time up to which writes are safe.
func (l *lease) until() time.Time {
	return ptr.Deref(l.renewed.Load(), time.Time{}).Add(l.duration - margin)
}

// wait returns when the Lease may have expired, or the context has ended.
func (l *lease) wait(ctx context.Context) {
	for !over(l.until()) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(min(time.Until(l.until()), time.Second)): // the clock may be set
		}
	}
}

// over reports whether a time has passed, by the clock of the system or by the monotonic
// one. The first may be set back, the second stops while a machine is suspended.
func over(until time.Time) bool {
	now := time.Now()
	return now.After(until) || now.Round(0).After(until.Round(0))
}

// gate returns an error if the Lease may have expired, and another process may lead.
func (l *lease) gate(context.Context) error {
	if over(l.until()) {
		if l.fenced.CompareAndSwap(false, true) {
			l.log.Warn("nothing is written any more: the lease of this process may have expired", "lease", l.Describe())
		}
		return errNotLeading
	}
	l.fenced.Store(false)
	return nil
}
