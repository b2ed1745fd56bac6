package run

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/run/shards"
)

// announce announces this replica, with what is wrong with the keys of its shards and what
// is in force, and takes the placement from the answer: others rely on that for as long as
// this replica announces itself, also while it releases its shards.
func (s *sharing) announce(ctx context.Context) error {
	held := s.held()
	s.tellLooked() // first: what is in force must not be older
	s.tell(held)
	if s.work != nil && s.placed != "" && s.work.Settled() {
		s.roster.Self.Seen = s.placed
	}
	if err := s.roster.beat(ctx, held); err != nil {
		return err
	}
	if s.work != nil {
		s.work.Place(s.roster.Placement())
		s.placed = s.roster.version
	}
	return nil
}

// tellLooked sets up to which version of the history this replica announces to have come.
func (s *sharing) tellLooked() {
	s.roster.Self.Looked = ""
	if s.work != nil {
		s.roster.Self.Looked = s.work.Looked()
	}
}

// troubles returns what is wrong here. A replica without a shard, which decides about no
// object, only says what it does not run, and would not with one.
func (s *sharing) troubles(held []int) []shards.Trouble {
	if s.work == nil {
		return nil
	}
	all := s.work.Troubles()
	if len(held) > 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t shards.Trouble) bool { return t.Idle == "" })
}

// tell sets what is announced about the policies here, and reports whether it is news for who
// waits for an edit.
func (s *sharing) tell(held []int) (news bool) {
	news = s.roster.Tell(s.troubles(held))
	return s.tellInForce() || news
}

// tellInForce sets what is announced about the policies in force, and reports whether that is
// news. A replica that does not take part runs none.
func (s *sharing) tellInForce() (news bool) {
	if s.work == nil {
		return s.roster.TellInForce(nil)
	}
	return s.roster.TellInForce(s.work.InForce())
}

// hurry has it announced soon what is in force here, if that has changed.
func (s *sharing) hurry() {
	select {
	case s.changed <- struct{}{}:
	default: // there is one already
	}
}

// announceGather is how long changes of what is in force are gathered.
const announceGather = 100 * time.Millisecond

// interval returns how long a replica waits until it announces itself again. While policies
// are gathered or scattered, which nobody evaluates, all wait for what the others have seen.
func (s *sharing) interval() time.Duration {
	moved := s.moved
	s.moved = false
	if moved || s.roster.Placement().Moving() {
		return s.config.RetryPeriod / 4
	}
	return s.config.RetryPeriod
}

// rest waits until the next step is due: at once when something else is in force here, or
// does not run, for which edict wait waits.
func (s *sharing) rest(ctx context.Context) {
	due := time.After(s.interval())
	for {
		select {
		case <-ctx.Done():
			return
		case <-due:
			return
		case <-s.changed:
			if s.tell(s.held()) {
				s.pause(ctx, announceGather)
				return
			}
		}
	}
}

// hear has the one that leads look at what the others have in force or do not run, if that
// has changed.
func (s *sharing) hear() {
	if now := s.roster.InForce(); !now.Equal(s.heard) {
		s.heard = now
		s.work.Heard()
	}
}
