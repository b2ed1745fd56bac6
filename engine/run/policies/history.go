package policies

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// historyStore keeps the history of every policy in the cluster, and with it
// the last good revision, so that it survives the controller: a
// ControllerRevision for each revision, whose data cannot be changed once it is
// made, owned by the ConfigMap of the policy.
type historyStore struct {
	client    kubernetes.Interface
	namespace string
	checker   *check.Checker
	log       *slog.Logger
	// entries are by policy, the oldest first.
	entries map[string][]*history.Entry
	// places are the files in which policies were last found, by ID.
	places map[string]string
	// discarded are the last good revisions that can no longer run, by policy.
	discarded map[string]discarded
	// stopped are the policies that no longer run; see update.
	stopped []string
	// stepped reports whether a revision was in force for the objects of some steps, as
	// far as the rollouts know.
	stepped func(policy, revision string) bool
}

const (
	// maxRevisions is how many revisions of a policy are kept.
	maxRevisions = 10
	// maxKept is the size of the history of one ConfigMap, in bytes: each of its
	// policies is kept with all of its file.
	maxKept = 16 << 20
	// maxStopped is how many policies that are gone are kept of one ConfigMap.
	maxStopped = 10
)

func newHistoryStore(client kubernetes.Interface, namespace string, checker *check.Checker, log *slog.Logger) *historyStore {
	return &historyStore{client: client, namespace: namespace, checker: checker, log: log, entries: map[string][]*history.Entry{}, places: map[string]string{}, discarded: map[string]discarded{}, stepped: func(_, _ string) bool { return false }}
}

// read reads the history.
func (s *historyStore) read(ctx context.Context) error {
	list, err := s.client.AppsV1().ControllerRevisions(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision})
	if err != nil {
		return err
	}
	s.entries = history.List(list.Items, func(name string, err error) {
		s.log.Warn("a kept revision cannot be read", "name", name, "error", err.Error())
	})
	return nil
}

// confirm forgets the entries of a policy that the cluster no longer has: they went with
// another ConfigMap, or somebody has deleted them. If it cannot be asked, what is known
// counts.
func (s *historyStore) confirm(ctx context.Context, id string) {
	list, err := s.client.AppsV1().ControllerRevisions(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision + "=" + id})
	if err != nil {
		s.log.Warn("it cannot be asked which revisions are still kept", observe.LogPolicy, id, "error", err.Error())
		return
	}
	for _, e := range slices.Clone(s.entries[id]) {
		if !slices.ContainsFunc(list.Items, func(r appsv1.ControllerRevision) bool { return r.Name == e.Name }) {
			s.forget(e)
		}
	}
}

// good returns the last good revision as it is kept; nil if there is none.
func (s *historyStore) good(id string) *history.Entry { return history.Good(s.entries[id]) }

// wasInForce reports whether the text of a policy is the last good one.
func (s *historyStore) wasInForce(id string, u *source.Unit) bool {
	e := s.good(id)
	return e != nil && e.Revision == u.Revision()
}

// lastGood returns the last good revision of a policy; nil if there is none
// that still is.
func (s *historyStore) lastGood(id string) *lifecycle.Revision {
	e := s.good(id)
	if e == nil {
		return nil
	}
	u := e.Unit()
	if u == nil {
		return nil
	}
	if u.Revision() != e.Revision {
		s.discard(e, "its content does not match its hash")
		return nil
	}
	v := s.checker.Text(context.Background(), u)
	if !v.Good() {
		s.discard(e, problemsOf(v))
		return nil
	}
	delete(s.discarded, id)
	return &v.Revision
}

// entryOf returns a new entry of the present text of a policy.
func entryOf(u *source.Unit, c *source.Catalog) *history.Entry {
	return &history.Entry{Copy: history.CopyOf(u), Owner: types.UID(c.Origins[u.ID()].UID)}
}

// keepInForce records revisions that came into force; the next edit may have
// replaced them since.
func (s *historyStore) keepInForce(ctx context.Context, revisions []*lifecycle.Revision) (failed bool) {
	for _, r := range revisions {
		if r.Unit.ID() != r.Unit.Name() { // in Shadow mode it writes nothing
			continue
		}
		if err := s.record(ctx, r.Unit, r.Catalog, history.Active); err != nil && ctx.Err() == nil {
			failed = true
			s.log.Error("the revision cannot be kept for a restart", observe.LogPolicy, r.Unit.ID(), "error", err.Error())
		}
	}
	return failed
}

// keep records the results of the present policies, and which policies are gone. That it fails does no harm: it is logged, and tried again later.
func (s *historyStore) keep(ctx context.Context, c *source.Catalog, policies *lifecycle.Registry) (failed bool) {
	for _, id := range policies.Checked() {
		p := policies.Get(id)
		u, result := p.Newest.Unit, resultOf(&p)
		if result == "" || id != u.Name() { // in Shadow mode it writes nothing
			continue
		}
		if err := s.record(ctx, u, c, result); err != nil && ctx.Err() == nil {
			failed = true
			s.log.Error("the revision cannot be kept for a restart", observe.LogPolicy, id, "error", err.Error())
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.entries)) {
		if good := s.good(id); good != nil && s.over(id, c) {
			if err := s.set(ctx, good, history.Stopped); err != nil && ctx.Err() == nil {
				failed = true
				s.log.Error("it cannot be noted that the policy is gone or disabled", observe.LogPolicy, id, "error", err.Error())
			}
		}
	}
	failed = s.endRollouts(ctx, policies) || failed
	failed = s.continued(ctx) || failed
	s.sweep(ctx, c)
	s.update(c)
	return failed
}

// over reports whether a policy is gone, or disabled by its text. It has no last good
// revision then: a mistake in its file must not start it. What the annotation disables
// can be told also while the file cannot be read.
func (s *historyStore) over(id string, c *source.Catalog) bool {
	if u := c.Units[id]; u != nil {
		return u.DisabledByText()
	}
	return !c.Untold(id, s.place(id, nil))
}

// record notes a result of the present text of a policy.
func (s *historyStore) record(ctx context.Context, u *source.Unit, c *source.Catalog, result history.Result) error {
	origin, list := c.Origins[u.ID()], s.entries[u.Name()]
	last := &history.Entry{}
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	if last.Revision == u.Revision() && last.File == u.File.Path && last.Owner == types.UID(origin.UID) {
		if result = s.next(last, result); result == last.Result {
			return nil
		}
		return s.finish(ctx, last, result)
	}
	e := entryOf(u, c)
	e.Number, e.Result = last.Number+1, result
	by := author(last, e, u, c)
	e.Author, e.Edited = by.Manager, by.At
	if err := s.room(ctx, e); err != nil {
		if result == history.Active {
			return err
		}
		return nil // what does not run is in the ConfigMap
	}
	made, err := e.Object(origin.Namespace)
	if err != nil {
		return err
	}
	_, err = s.client.AppsV1().ControllerRevisions(origin.Namespace).Create(ctx, made, metav1.CreateOptions{FieldManager: apply.FieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	s.entries[e.Policy] = append(list, e)
	return s.finish(ctx, e, result)
}
