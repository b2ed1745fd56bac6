package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/shards"
)

// sharing holds some of the shards: it announces this replica, competes for the Leases of
// its share, and releases what is more than that.
type sharing struct {
	process *process
	options sharingOptions
	config  Election
	client  coordinationv1.LeasesGetter
	roster  *roster
	// single is who holds the Lease of a controller without shards.
	single outsider
	keeper shards.Keeper

	mu      sync.Mutex
	holders map[int]*holder
	// work is that of a replica that takes part; nil is that it does not.
	work shardWork
	// placed is the version of the roster with the placement that the work was given last.
	// Moved says that this replica has written another one since.
	placed string
	moved  bool
	// waiting is why this replica does not take part, as it was logged.
	waiting string
	// changed holds an item when what is in force here may have changed, and heard is what
	// the other replicas announced last.
	changed chan struct{}
	heard   shards.InForce
	wg      sync.WaitGroup
}

// sharingOptions are those of a replica that shares the work.
type sharingOptions struct {
	shards int
	// stop is how long the release of a shard may take.
	stop time.Duration
	log  logger
}

type logger interface {
	Info(msg string, args ...any)
	Warn(msg string, args ...any)
	Error(msg string, args ...any)
}

// shardWork is what reconciles the keys of shards.
type shardWork interface {
	Acquire(shard int)
	Release(ctx context.Context, shard int) error
	Place(p shards.Placement)
	// Settled reports whether nothing is under way by an earlier placement than the last,
	// about policies that no replica evaluates by that.
	Settled() bool
	// Gathered returns the policies that must not be spread; false is that it is not known
	// yet.
	Gathered() (policies shards.Placement, known bool)
	// Troubles returns what is wrong in this replica, for the one that leads.
	Troubles() []shards.Trouble
	// InForce returns the revisions in force in this replica, by the ID of their policy; nil
	// is that they are not those of ConfigMaps.
	InForce() map[string]string
	// Looked returns the version of the history that the revisions in force are by, or a
	// later one; "" is that it is not known.
	Looked() string
	// Heard is called when other replicas have announced other revisions in force.
	Heard()
	// Leads reports whether this replica makes the policy-wide writes from now on, and how
	// long it has waited for that.
	Leads(leads bool, waited time.Duration)
}

func newSharing(p *process) *sharing {
	o := &p.options
	return &sharing{process: p, options: sharingOptions{shards: o.Shards, stop: o.StopTimeout, log: o.Log}}
}

// connect makes the clients.
func (s *sharing) connect(client coordinationv1.LeasesGetter, e Election) {
	s.config, s.client, s.holders, s.changed = e, client, map[int]*holder{}, make(chan struct{}, 1)
	leases := client.Leases(e.Namespace)
	s.roster = &roster{leases: leases, name: e.Name + "-shards", Roster: shards.Roster{
		Self: shards.Replica{Identity: e.Identity, Shards: s.options.shards, Lease: int64(e.LeaseDuration / time.Second)}, Duration: e.LeaseDuration,
	}}
	s.roster.lapsed = s.drop
	s.single = outsider{leases: leases, name: e.Name}
}

// run shares the work until the context ends.
func (s *sharing) run(ctx context.Context) error {
	p := s.process
	election, err := p.options.Election.withDefaults()
	if err != nil {
		return err
	}
	client, err := election.client(p.options.Config)
	if err != nil {
		return err
	}
	s.connect(client, election)
	p.writer.Gate = s.gate
	observe.Leader.Set(0)
	for shard := range s.options.shards {
		observe.ShardHeld.WithLabelValues(strconv.Itoa(shard)).Set(0)
	}
	for ctx.Err() == nil {
		if !s.join(ctx) {
			s.pause(ctx, s.config.RetryPeriod+rand.N(s.config.RetryPeriod)) //nolint:gosec // so that two do not meet again
			continue
		}
		work := newSharedTerm(ctx, p, s)
		s.take(ctx, work)
		if err := work.term.stop(s.options.stop); err != nil {
			return err
		}
		if err := s.roster.leave(context.WithoutCancel(ctx)); err != nil {
			s.options.log.Warn("this replica could not be taken off the roster; others wait for the end of its Leases", "error", err.Error())
		}
	}
	return nil
}

// gate returns an error unless the shard of the key that a context belongs to is held.
func (s *sharing) gate(ctx context.Context) error {
	shard, err := shards.Claimed(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.holders[shard]; h == nil || over(s.safe(h)) {
		return errNotLeading
	}
	return nil
}

// safe returns up to when no other replica can have taken the shard of a holder. The caller
// has the lock.
func (s *sharing) safe(h *holder) time.Time {
	if h.lapsed {
		return time.Time{}
	}
	until, seen := h.lock.until(s.config.LeaseDuration), s.roster.until()
	if seen.Before(until) {
		return seen
	}
	return until
}

// join announces this replica, unless others count other shards than it does.
func (s *sharing) join(ctx context.Context) bool {
	why, err := s.stranger(ctx)
	if err == nil {
		if other := s.roster.Other(); other != nil && why == "" {
			why = fmt.Sprintf("the replica %s runs with --shards %d, and this one with %d", other.Identity, other.Shards, s.options.shards)
		}
		if why == "" {
			s.waiting = ""
			return true
		}
		err = s.roster.leave(ctx)
	}
	if err != nil {
		why = err.Error()
	}
	if why != s.waiting && ctx.Err() == nil {
		s.options.log.Warn("this replica waits, and takes no part in the work", "reason", why)
	}
	s.waiting = why
	return false
}

// stranger announces this replica, and returns why the Lease of the first shard is held by
// none of the replicas; "" is that it is not.
func (s *sharing) stranger(ctx context.Context) (string, error) {
	identity, err := s.single.look(ctx, s.config.LeaseDuration)
	if err != nil {
		return "", err
	}
	if err := s.announce(ctx); err != nil {
		return "", err
	}
	if identity == "" || s.roster.Known(identity) {
		return "", nil
	}
	return fmt.Sprintf("the Lease %s is held by %s, which runs without --shards", s.config.Name, identity), nil
}
