package shards

import (
	"encoding/json"
	"maps"
	"strings"
)

// Revisions are those of a policy in a replica: the one in force, and the one that is to
// replace it. Either may be "".
type Revisions struct{ InForce, Next string }

// ParseRevisions parses what String returned.
func ParseRevisions(text string) Revisions {
	now, next, _ := strings.Cut(text, ">")
	return Revisions{now, next}
}

// String returns the revision in force, and after > the one that is to replace it.
func (r Revisions) String() string {
	if r.Next == "" {
		return r.InForce
	}
	return r.InForce + ">" + r.Next
}

// The bounds of what is announced about the policies that are in force, in bytes, like those
// of troubles.
const (
	maxInForce    = 8 << 10
	maxAllInForce = 64 << 10
)

// TellInForce sets which revisions the replica that reads announces the next time, by the ID
// of their policy, and reports whether that is news; nil announces nothing. Neither does more
// than one of so many replicas as there are shards may take.
func (r *Roster) TellInForce(now map[string]string) (news bool) {
	if out, err := json.Marshal(now); err != nil || len(out) > min(maxInForce, maxAllInForce/max(r.Self.Shards, 1)) {
		now = nil
	}
	news = !sameInForce(r.Self.InForce, now)
	r.Self.InForce = now
	return news
}

// InForce is what other live replicas have announced about the policies that are in force in
// them, by identity.
type InForce map[string]map[string]string

// InForce returns what the other live replicas have announced.
func (r *Roster) InForce() InForce {
	out := InForce{}
	for _, one := range r.Others() {
		out[one.Identity] = one.InForce
	}
	return out
}

// Equal reports whether the same was announced.
func (f InForce) Equal(other InForce) bool { return maps.EqualFunc(f, other, sameInForce) }

// sameInForce tells a replica that runs nothing from one that does not say what it runs.
func sameInForce(a, b map[string]string) bool { return (a == nil) == (b == nil) && maps.Equal(a, b) }
