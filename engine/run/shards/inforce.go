package shards

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/resourceversion"
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

// roomInForce is what one of so many replicas as there are shards may announce of them.
func (r *Roster) roomInForce() int { return min(maxInForce, maxAllInForce/max(r.Self.Shards, 1)) }

// TellInForce sets which revisions the replica that reads announces the next time, by the ID
// of their policy, and reports whether that is news; nil announces nothing. Of more than fit
// it announces sums.
func (r *Roster) TellInForce(now map[string]string) (news bool) {
	next := Told{Revisions: now, Idle: r.Self.idle()}
	if out, err := json.Marshal(now); err != nil || len(out) > r.roomInForce() {
		next.Revisions, next.Sums = nil, SumsOf(now, max(r.roomInForce()*3/4/sumSize, 1)) // JSON has them in base64
	}
	news = !next.equal(r.Self.told())
	r.Self.InForce, r.Self.Sums = next.Revisions, next.Sums
	return news
}

// Told is what a replica has announced about the policies that are in force in it: their
// revisions, or the sums of these, both nil if it does not say, and the revisions that it does
// not run, as policy=revision.
type Told struct {
	Revisions map[string]string
	Sums      Sums
	Idle      []string
}

func (r *Replica) told() Told { return Told{r.InForce, r.Sums, r.idle()} }

// equal tells a replica that runs nothing from one that does not say what it runs.
func (t Told) equal(other Told) bool {
	return (t.Revisions == nil) == (other.Revisions == nil) && maps.Equal(t.Revisions, other.Revisions) &&
		bytes.Equal(t.Sums, other.Sums) && slices.Equal(t.Idle, other.Idle)
}

// InForce is what other live replicas have announced, by identity.
type InForce map[string]Told

// InForce returns what the other live replicas have announced.
func (r *Roster) InForce() InForce {
	out := InForce{}
	for _, one := range r.Others() {
		out[one.Identity] = one.told()
	}
	return out
}

// Equal reports whether the same was announced.
func (f InForce) Equal(other InForce) bool { return maps.EqualFunc(f, other, Told.equal) }

// Behind reports whether the replica says that it acts on an older version of the history.
func (r *Replica) Behind(version string) bool {
	if r.Looked == "" || version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(r.Looked, version)
	return err == nil && order < 0
}
