package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// rivalWrites is how often a policy finds what it has written to an object
	// overwritten by another writer, until that is reported.
	rivalWrites = 3
	// rivalPause is the longest time between two such writes, and how long it is
	// reported after the last one.
	rivalPause = 5 * time.Minute
	// rivalLook is how often an object is looked at.
	rivalLook = time.Second
	// maxContests bounds the objects that are looked at.
	maxContests = 10_000
)

// rivals notices that another client writes the fields of a policy: the policy
// writes the same to an object again and again, and before each write another
// manager owns what it wrote.
type rivals struct {
	// news is called for each rival that is new.
	news func(rival)
	now  func() time.Time

	mu       sync.Mutex
	contests map[contestID]contest
	found    map[rivalID]rival
}

type (
	contestID struct {
		policy, subresource string
		target              world.ID
	}
	rivalID struct{ policy, manager string }
)

// contest is what a policy has written last to an object.
type contest struct {
	body          uint64
	wrote, looked time.Time
	// times is how often another manager was found.
	times int
}

// rival is another writer of the fields of a policy.
type rival struct {
	policy, manager string
	target          world.ID
	seen            time.Time
	// by is the reconciliation whose write has found it.
	by record.ID
}

func (r rival) String() string {
	object := eval.Key{Namespace: r.target.Namespace, Name: r.target.Name}
	return fmt.Sprintf("%s writes what the policy %s writes, such as in %s %s: stop one of the two", r.manager, r.policy, r.target.Kind, object)
}

func newRivals(news func(rival)) *rivals {
	return &rivals{news: news, now: time.Now, contests: map[contestID]contest{}, found: map[rivalID]rival{}}
}

// patching looks who owns what a patch is about to write, if the policy has
// written the same before. The managers of the object are asked for only then.
func (r *rivals) patching(ctx context.Context, p apply.Patch, managers func() []metav1.ManagedFieldsEntry) {
	id := contestID{policy: p.Policy, subresource: p.Subresource, target: p.Target}
	next := contest{body: essence(p.Body), wrote: r.now()}
	last, same := r.last(id, next)
	if same {
		next.times, next.looked = last.times, last.looked
	}
	owner := ""
	if same && next.wrote.Sub(last.looked) >= rivalLook {
		next.looked = next.wrote
		if owner = ownerOf(p, managers()); owner != "" {
			next.times++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.contests[id] = next
	if owner != "" && next.times >= rivalWrites {
		r.find(rival{policy: p.Policy, manager: owner, target: p.Target, seen: next.wrote, by: record.IDOf(ctx)})
	}
}

// last returns what was written before, and whether the same is now.
func (r *rivals) last(id contestID, next contest) (last contest, same bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.contests) >= maxContests {
		clear(r.contests)
	}
	last, same = r.contests[id]
	return last, same && next.body == last.body && next.wrote.Sub(last.wrote) < rivalPause
}

// find notes a rival.
func (r *rivals) find(one rival) {
	id := rivalID{one.policy, one.manager}
	before, known := r.found[id]
	if known && one.seen.Sub(before.seen) < rivalPause {
		one.target = before.target // the report stays as it is
	} else {
		r.news(one)
	}
	r.found[id] = one
}

// of returns the warnings about a policy's rivals, a line each.
func (r *rivals) of(policy string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for id, one := range r.found {
		switch {
		case r.now().Sub(one.seen) >= rivalPause:
			delete(r.found, id)
		case id.policy == policy:
			out = append(out, one.String())
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// ownerOf returns another manager that owns something of what a patch writes; ""
// is none.
func ownerOf(p apply.Patch, managers []metav1.ManagedFieldsEntry) string {
	for _, m := range managers {
		if m.Manager == apply.FieldManager+"/"+p.Policy || m.Subresource != p.Subresource || m.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err == nil && owns(fields, p.Body) {
			return m.Manager
		}
	}
	return ""
}

// owns reports whether a manager's fields have one that a patch writes.
func owns(fields map[string]any, body *value.Map) bool {
	for i := range body.Len() {
		key, v := body.At(i)
		under, ok := fields["f:"+key].(map[string]any)
		if !ok {
			continue
		}
		deeper, isMap := v.(*value.Map)
		if !isMap || len(under) == 0 || owns(under, deeper) {
			return true
		}
	}
	return false
}
