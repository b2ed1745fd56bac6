package shards

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// Trouble is what is wrong with one policy in one replica. The replicas announce theirs, so
// that the one that writes the status knows those of all.
type Trouble struct {
	// Policy is its ID. Revision is the one that this is about: of another one it says
	// nothing.
	Policy   string `json:"policy"`
	Revision string `json:"revision"`
	// Idle is why the replica does not run the revision, Stopped why it writes nothing,
	// and Watches what it cannot watch.
	Idle    string `json:"idle,omitempty"`
	Stopped string `json:"stopped,omitempty"`
	Watches string `json:"watches,omitempty"`
	// Failing is how many of the objects fail that the replica decides about, Objects how
	// many there are with those of others.
	Failing int `json:"failing,omitempty"`
	Objects int `json:"objects,omitempty"`
	// The first object that fails, and its error.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Error     string `json:"error,omitempty"`
	// Braked is what the brakes do; nil is nothing.
	Braked *Braked `json:"braked,omitempty"`
}

// Any reports whether anything is wrong.
func (t *Trouble) Any() bool {
	return t.Idle != "" || t.Stopped != "" || t.Watches != "" || t.Failing > 0 || t.Braked != nil
}

// First returns the key of the first object that fails.
func (t *Trouble) First() eval.Key { return eval.Key{Namespace: t.Namespace, Name: t.Name} }

// cut returns it with texts of at most n bytes.
func (t Trouble) cut(n int) Trouble {
	for _, text := range []*string{&t.Idle, &t.Stopped, &t.Watches, &t.Error} {
		*text = value.Cut(*text, n)
	}
	t.Braked = t.Braked.cut(n)
	return t
}

// The bounds of what is announced, in bytes. All annotations of an object together may have
// 256 KiB, and those of replicas that have died stay for a while.
const (
	maxTroubles    = 4 << 10
	maxAllTroubles = 64 << 10
)

// textLimits are the lengths to which texts are cut, so that all policies are named.
var textLimits = []int{512, 256, 128, 32}

// tell puts troubles into the announcement, cut to what one of so many replicas as there are
// shards may take: first of revisions that do not run, for which edits wait.
func (r *Replica) tell(all []Trouble) {
	runs := func(t Trouble) bool { return t.Idle == "" }
	all = slices.Concat(slices.DeleteFunc(slices.Clone(all), runs), slices.DeleteFunc(slices.Clone(all), func(t Trouble) bool { return !runs(t) }))
	limit := min(maxTroubles, maxAllTroubles/max(r.Shards, 1))
	r.Troubles, r.More = nil, 0
	for _, n := range textLimits {
		r.Troubles = make([]Trouble, len(all))
		for i := range all {
			r.Troubles[i] = all[i].cut(n)
		}
		if size(r.Troubles) <= limit {
			return
		}
	}
	for size(r.Troubles) > limit {
		r.Troubles = slices.Delete(r.Troubles, len(r.Troubles)-1, len(r.Troubles))
		r.More++
	}
}

func size(all []Trouble) int {
	out, err := json.Marshal(all)
	if err != nil {
		return 0 // it has nothing that JSON cannot hold
	}
	return len(out)
}

// Tell sets what the replica that reads announces the next time, and reports whether that is
// news: whether it is about other revisions that it does not run.
func (r *Roster) Tell(all []Trouble) (news bool) {
	before := r.Self.idle()
	r.Self.tell(all)
	return !slices.Equal(before, r.Self.idle())
}

// idle returns the revisions that the replica does not run, with their policies.
func (r *Replica) idle() (out []string) {
	for i := range r.Troubles {
		if t := &r.Troubles[i]; t.Idle != "" {
			out = append(out, t.Policy+"="+t.Revision)
		}
	}
	return out
}

// Others returns the other live replicas that count as many shards as the one that reads, by
// identity. Unlike Live, it may be called while that one announces itself.
func (r *Roster) Others() (out []Replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		one := e.replica
		if one.Identity != r.Self.Identity && one.Shards == r.Self.Shards && !r.silent(e) {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Replica) int { return cmp.Compare(a.Identity, b.Identity) })
	return out
}
