package shards

import (
	"maps"
	"time"
)

// Keeper changes the placement. Only the holder of shard 0 does.
type Keeper struct {
	// since is when this replica first read that a policy is gathered or scattered.
	since map[string]Look
	seen  Placement
}

// Look is when the roster was read, and the version of it.
type Look struct {
	Time    time.Time
	Version string
}

// Next returns the placement after one that was read with a look. Needs has the phases of
// the policies that need one. A policy is evaluated again when all replicas have seen that it
// is not: when they say so, as saw reports of a version, or when wait is over, which is how
// old the placement may be that a replica acts on.
func (k *Keeper) Next(read, needs Placement, now Look, wait time.Duration, saw func(version string) bool) Placement {
	k.note(read, now)
	out := maps.Clone(read)
	settled := func(policy string) bool {
		since := k.since[policy]
		return now.Time.Sub(since.Time) >= wait || saw(since.Version)
	}
	for policy, needed := range needs {
		switch phase := read[policy]; {
		case phase == Gathering && settled(policy):
			out[policy] = needed
		case phase != Gathering && phase != needed:
			out[policy] = Gathering
		}
	}
	for policy, phase := range read {
		if needs[policy] != "" {
			continue
		}
		if phase != Scattering {
			out[policy] = Scattering
		} else if settled(policy) {
			delete(out, policy)
		}
	}
	return out
}

func (k *Keeper) note(read Placement, now Look) {
	if k.since == nil {
		k.since = map[string]Look{}
	}
	for policy, phase := range read {
		if k.seen[policy] != phase {
			k.since[policy] = now
		}
	}
	maps.DeleteFunc(k.since, func(policy string, _ Look) bool { return read[policy] == "" })
	k.seen = maps.Clone(read)
}

// Moving reports whether a policy is gathered or scattered, or in a phase that a newer version
// knows: no replica evaluates it.
func (p Placement) Moving() bool {
	for policy := range p {
		if p.moves(policy) {
			return true
		}
	}
	return false
}

func (p Placement) moves(policy string) bool {
	switch p[policy] {
	case "", Whole, Led:
		return false
	default:
		return true
	}
}
