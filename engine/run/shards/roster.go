package shards

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// The annotations of the roster.
const (
	// AnnotationReplica begins the names of those of the replicas, AnnotationPlacement
	// has the placement.
	AnnotationReplica   = "replica.edict.dev/"
	AnnotationPlacement = "edict.dev/placement"
)

// Replica is what a replica announces.
type Replica struct {
	Identity string `json:"identity"`
	// Shards is how many there are by its arguments, Held are those that it holds.
	Shards int   `json:"shards"`
	Held   []int `json:"held,omitempty"`
	// Lease is the duration of its Leases in seconds: for so long after an announcement it
	// may write. 0 is that of the replica that reads.
	Lease int64 `json:"lease,omitempty"`
	// Beat changes with each announcement.
	Beat int64 `json:"beat"`
	// Troubles are what is wrong in it, More how many policies there are that it had no
	// room for. A release that does not know them announces none, and passes them over.
	Troubles []Trouble `json:"troubles,omitempty"`
	More     int       `json:"more,omitempty"`
	// InForce has the revisions that are in force in it, as [Revisions] by the ID of their
	// policy. Sums are those of more than fit. Both nil is that it does not say: its release
	// does not know this.
	InForce map[string]string `json:"inForce,omitzero"`
	Sums    Sums              `json:"sums,omitempty"`
	// Looked is the version of the history that it acts on, or has done something later; ""
	// is that it does not say.
	Looked string `json:"looked,omitempty"`
	// Seen is the version of the roster with the placement that it acts on, when nothing is
	// under way any more that began by an earlier one; "" is that it does not say.
	Seen string `json:"seen,omitempty"`
}

// Name returns the annotation of the replica: an identity may have characters that the
// name of an annotation must not have.
func (r *Replica) Name() string {
	sum := sha256.Sum256([]byte(r.Identity))
	return AnnotationReplica + hex.EncodeToString(sum[:8])
}

// Text returns the announcement as the roster reads it.
func (r *Replica) Text() string {
	out, err := json.Marshal(r)
	if err != nil {
		return "" // it has nothing that JSON cannot hold
	}
	return string(out)
}

// Roster is what a replica has read about all of them. A replica is live until two reads
// that are the duration of a Lease apart, the longer of its own and of the reader's, have
// found the same announcement: that nothing was read for so long says nothing of the
// others.
type Roster struct {
	// Self is the replica that reads, Duration that of a Lease. They must not be changed
	// while others use the roster, but for what Self holds, what is wrong in it, and what it
	// runs.
	Self     Replica
	Duration time.Duration

	mu        sync.Mutex
	entries   map[string]entry
	placement Placement
	// asked is when the last read began.
	asked time.Time
}

type entry struct {
	replica Replica
	text    string
	since   time.Time
}

// Read takes the annotations of the roster, with when they were asked for and when they
// came.
func (r *Roster) Read(annotations map[string]string, asked, now time.Time) error {
	placement, err := ParsePlacement(annotations[AnnotationPlacement])
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := map[string]entry{}
	for name, text := range annotations {
		if !strings.HasPrefix(name, AnnotationReplica) {
			continue
		}
		one := entry{text: text, since: now}
		if json.Unmarshal([]byte(text), &one.replica) != nil || one.replica.Name() != name {
			continue
		}
		if before, ok := r.entries[name]; ok && before.text == text {
			one.since = before.since
		}
		entries[name] = one
	}
	r.entries, r.placement, r.asked = entries, placement, asked
	return nil
}

// Placement returns the placement that was read last.
func (r *Roster) Placement() Placement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.placement
}

// Live returns the live replicas that count as many shards as the one that reads, with
// itself, by identity.
func (r *Roster) Live() []Replica {
	return slices.DeleteFunc(r.all(), func(one Replica) bool { return one.Shards != r.Self.Shards })
}

func (r *Roster) all() (out []Replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out = append(out, r.Self)
	for _, e := range r.entries {
		if e.replica.Identity != r.Self.Identity && !r.silent(e) {
			out = append(out, e.replica)
		}
	}
	slices.SortFunc(out, func(a, b Replica) int { return cmp.Compare(a.Identity, b.Identity) })
	return out
}

// silent reports whether an announcement is older than the Leases of who made it, and than
// those of the replica that reads.
func (r *Roster) silent(e entry) bool { return r.asked.Sub(e.since) >= r.lease(&e.replica) }

func (r *Roster) lease(one *Replica) time.Duration {
	return max(r.Duration, time.Duration(one.Lease)*time.Second)
}

// Longest returns the longest duration of the Leases of live replicas.
func (r *Roster) Longest() time.Duration {
	longest := r.Duration
	for _, one := range r.all() {
		longest = max(longest, r.lease(&one))
	}
	return longest
}

// Saw reports whether all live replicas say that they act on the placement of a version of the
// roster, or of a later one.
func (r *Roster) Saw(version string) bool {
	return !slices.ContainsFunc(r.all(), func(one Replica) bool {
		order, err := resourceversion.CompareResourceVersion(one.Seen, version)
		return err != nil || order < 0
	})
}

// Known reports whether an identity is that of a replica in the roster.
func (r *Roster) Known(identity string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(r.entries)), func(e entry) bool { return e.replica.Identity == identity })
}

// Dead reports whether an identity is that of a replica that is in the roster, but not
// live, and what it has announced last.
func (r *Roster) Dead(identity string) (text string, dead bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.replica.Identity == identity && identity != r.Self.Identity {
			return e.text, r.silent(e)
		}
	}
	return "", false
}

// Gone returns the annotations of replicas that are long gone.
func (r *Roster) Gone() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, e := range r.entries {
		if r.asked.Sub(e.since) >= 10*r.lease(&e.replica) {
			names = append(names, name)
		}
	}
	return names
}

// Other returns a live replica with another number of shards; nil if there is none.
func (r *Roster) Other() *Replica {
	for _, one := range r.all() {
		if one.Shards != r.Self.Shards {
			return &one
		}
	}
	return nil
}

// Next returns the shards that the replica is to compete for, and those that it is to
// release, of those that it holds and those that it competes for.
func (r *Roster) Next(held []int) (compete, release []int) {
	live := r.Live()
	place := slices.IndexFunc(live, func(one Replica) bool { return one.Identity == r.Self.Identity })
	n := r.Self.Shards
	quota := Quota(n, place, len(live))
	if len(held) > quota { // one after the other, so that few keys rest at a time
		return nil, []int{slices.Max(held)}
	}
	taken := map[int]bool{}
	for _, one := range live {
		for _, shard := range one.Held {
			taken[shard] = taken[shard] || one.Identity != r.Self.Identity
		}
	}
	for _, shard := range held {
		taken[shard] = true
	}
	first := place * n / len(live) // where others do not begin
	for i := range n {
		shard := (first + i) % n
		if len(compete) < quota-len(held) && !taken[shard] {
			compete = append(compete, shard)
		}
	}
	return compete, nil
}
