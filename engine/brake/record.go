package brake

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// What the brakes know is kept in two ConfigMaps of the policies' namespace,
// which have the label LabelBrakes: "true".
const (
	// RecordsName is the one that the controller writes: a key per policy, with a
	// Record. HoldsName is written by people: a key per Hold.
	RecordsName = "edict-brakes"
	HoldsName   = "edict-holds"
	LabelBrakes = "edict.dev/brakes"
)

// Record is what is kept of a policy.
type Record struct {
	Pauses []Pause `json:"pauses,omitempty"`
	// Resumed is set by a person who ends the pauses; the controller then drops
	// both.
	Resumed *Resumption `json:"resumed,omitempty"`
	// Kept are examples of what is kept back, Objects says of how many objects
	// something is, by reason, and Holds by the name of the hold.
	Kept    []KeptRecord   `json:"kept,omitempty"`
	Objects map[Reason]int `json:"objects,omitempty"`
	Holds   map[string]int `json:"holds,omitempty"`
}

// Resumption is a person's wish that a policy goes on.
type Resumption struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// KeptRecord is what is kept back of one object.
type KeptRecord struct {
	// Key is NAMESPACE/NAME, Writes says what would be written, and More how much
	// besides. Hold names the hold that keeps it back.
	Key    string   `json:"key"`
	Reason Reason   `json:"reason"`
	Hold   string   `json:"hold,omitempty"`
	Rules  []string `json:"rules"`
	Writes []string `json:"writes"`
	More   int      `json:"more,omitempty"`
}

// ParseRecord reads the record of a policy.
func ParseRecord(policy, text string) (Record, error) {
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("the record of the policy %q cannot be read: %w", policy, err)
	}
	for i := range r.Pauses {
		r.Pauses[i].Policy = policy
	}
	return r, nil
}

// Text returns the record as it is kept; "" if there is nothing to keep.
func (r *Record) Text() string {
	if len(r.Pauses) == 0 && len(r.Objects) == 0 {
		return ""
	}
	out, err := json.Marshal(r)
	if err != nil {
		return "" // it has no value that JSON cannot hold
	}
	return string(out)
}

// AsOf returns when the newest of the pauses began.
func (r *Record) AsOf() (last time.Time) {
	for i := range r.Pauses {
		if since := r.Pauses[i].Since; since.After(last) {
			last = since
		}
	}
	return last
}

const (
	// maxRecorded bounds the examples of a record, maxExamples those of all in
	// bytes: a ConfigMap holds 1 MiB.
	maxRecorded = 20
	maxExamples = 256 << 10
)

// Records returns what is to be kept, by policy.
func (b *Brakes) Records() map[string]*Record {
	out := map[string]*Record{}
	b.mu.Lock()
	names, holds := slices.Sorted(maps.Keys(b.policies)), slices.Clone(b.holds)
	for name := range b.kept {
		out[name] = &Record{Pauses: slices.Clone(b.kept[name])}
	}
	b.mu.Unlock()
	size := 0
	for _, name := range names {
		r := &Record{Pauses: b.Pauses(name)}
		r.keep(b.Policy(name).Kept(), holds)
		if size += len(r.Text()); size > maxExamples {
			r.Kept = nil
		}
		out[name] = r
	}
	return out
}

func (r *Record) keep(kept []Kept, holds []Hold) {
	for i := range kept {
		one := &kept[i]
		if one.Writes == 0 {
			continue
		}
		if r.Objects == nil {
			r.Objects = map[Reason]int{}
		}
		r.Objects[one.Reason]++
		hold := ""
		for h := range holds {
			if one.Of(&holds[h]) {
				hold = holds[h].Name
				if r.Holds == nil {
					r.Holds = map[string]int{}
				}
				r.Holds[hold]++
			}
		}
		if len(r.Kept) < maxRecorded {
			r.Kept = append(r.Kept, KeptRecord{Key: one.Key.String(), Reason: one.Reason, Hold: hold, Rules: one.Rules, Writes: one.Shown, More: one.Writes - len(one.Shown)})
		}
	}
}
