package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/shards"
)

// holder competes for a shard and holds it.
type holder struct {
	lock   *lease
	cancel context.CancelFunc
	// held says that it is held, ending that it is about to be released, and lapsed that
	// another replica may hold it by now: nothing is written.
	held, ending, lapsed bool
}

// leaseName returns the name of the Lease of a shard. That of the first is the Lease of a
// controller without shards.
func (s *sharing) leaseName(shard int) string {
	if shard == 0 {
		return s.config.Name
	}
	return s.config.Name + "-shard-" + strconv.Itoa(shard)
}

// take holds shards until the context ends or this replica must not take part any more.
func (s *sharing) take(ctx context.Context, work shardWork) {
	s.work = work
	ctx, cancel := context.WithCancel(ctx)
	for ctx.Err() == nil {
		if why := s.step(ctx); why != "" {
			s.options.log.Error("this replica releases its shards", "reason", why)
			break
		}
		s.rest(ctx)
	}
	cancel()
	s.await(context.WithoutCancel(ctx))
	s.work, s.placed, s.roster.Self.Seen = nil, "", ""
}

// await announces this replica until it has released all shards.
func (s *sharing) await(ctx context.Context) {
	released := make(chan struct{})
	go func() { defer close(released); s.wg.Wait() }()
	for {
		select {
		case <-released:
			return
		case <-time.After(s.config.RetryPeriod):
		}
		if err := s.announce(ctx); err != nil {
			s.options.log.Warn("this replica could not announce itself while it releases its shards", "error", err.Error())
		}
	}
}

// step announces this replica, looks at the others, and acts on it. It returns why this
// replica must not take part any more; "" is that it may.
func (s *sharing) step(ctx context.Context) (why string) {
	why, err := s.stranger(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.options.log.Warn("this replica could not announce itself, and will try again", "error", err.Error())
		}
		if over(s.roster.until()) {
			s.drop()
		}
		return ""
	}
	if why != "" {
		return why
	}
	s.hear()
	s.keep(ctx)
	compete, release := s.roster.Next(s.held())
	s.mu.Lock()
	defer s.mu.Unlock()
	for shard, h := range s.holders {
		if !h.held && !slices.Contains(compete, shard) {
			h.cancel() // another replica holds it
		}
	}
	for _, shard := range release {
		if !s.releasing() {
			s.options.log.Info("this replica releases a shard to another one", "shard", shard)
			s.holders[shard].ending = true
			s.holders[shard].cancel()
		}
	}
	for _, shard := range compete {
		if s.holders[shard] == nil {
			s.hold(ctx, shard)
		}
	}
	return ""
}

func (s *sharing) releasing() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(s.holders)), func(h *holder) bool { return h.ending })
}

// keep changes which policies are spread, if this replica holds shard 0.
func (s *sharing) keep(ctx context.Context) {
	s.mu.Lock()
	h := s.holders[0]
	leads := h != nil && h.held && !over(s.safe(h))
	s.mu.Unlock()
	if !leads {
		s.keeper = shards.Keeper{}
		return
	}
	needs, known := s.work.Gathered()
	if !known {
		return
	}
	read := s.roster.Placement()
	next := s.keeper.Next(read, needs, shards.Look{Time: time.Now(), Version: s.roster.version}, s.roster.Longest(), s.roster.Saw)
	if maps.Equal(read, next) {
		return
	}
	s.moved = true
	if err := s.roster.place(ctx, next); err != nil && ctx.Err() == nil {
		s.options.log.Warn("the placement of policies could not be written, and will be tried again", "error", err.Error())
	}
}

// held returns the shards that are held, in order.
func (s *sharing) held() (out []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for shard, h := range s.holders {
		if h.held {
			out = append(out, shard)
		}
	}
	slices.Sort(out)
	return out
}

// drop gives all shards up: others may take this replica for dead.
func (s *sharing) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.holders {
		h.lapsed = true
		h.cancel()
	}
}

// hold competes for a shard in the background, and holds it. The caller has the lock.
func (s *sharing) hold(ctx context.Context, shard int) {
	inner, cancel := context.WithCancel(ctx)
	h := &holder{lock: s.config.lockOf(s.client, s.leaseName(shard)), cancel: cancel}
	h.lock.dead = s.roster.dead
	s.holders[shard] = h
	s.wg.Go(func() {
		defer cancel()
		if err := s.holding(inner, shard, h); err != nil && !errors.Is(err, context.Canceled) {
			s.options.log.Error("a shard was not released as it should", "shard", shard, "error", err.Error())
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.holders, shard)
	})
}

func (s *sharing) holding(ctx context.Context, shard int, h *holder) error {
	begin := time.Now()
	leads, lost, release, err := s.config.elect(ctx, h.lock)
	if err != nil {
		return err
	}
	defer release()
	if !acquire(ctx, leads, lost, release) {
		return nil
	}
	s.acquired(shard, h, true, time.Since(begin))
	s.work.Acquire(shard)
	timeout := s.options.stop
	select {
	case <-ctx.Done(): // the Lease is still held: it goes when all is written
	case <-lost:
		s.mu.Lock()
		timeout = min(timeout, max(time.Until(s.safe(h)), 0))
		s.mu.Unlock()
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	err = s.work.Release(ending, shard)
	s.acquired(shard, h, false, 0)
	release()
	<-lost
	return err
}

// acquired notes that a shard is held, for which this replica has waited, or not any more.
func (s *sharing) acquired(shard int, h *holder, held bool, waited time.Duration) {
	s.mu.Lock()
	h.held = held
	s.mu.Unlock()
	value := 0.0
	if held {
		value = 1
	}
	observe.ShardHeld.WithLabelValues(strconv.Itoa(shard)).Set(value)
	text := map[bool]string{true: "this process holds a shard", false: "this process no longer holds a shard"}[held]
	s.options.log.Info(text, "shard", shard, "lease", s.config.Namespace+"/"+s.leaseName(shard), "identity", s.config.Identity)
	if shard == 0 {
		s.work.Leads(held, waited)
	}
}

func (s *sharing) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
