// Package policies runs the policies of PolicySets. Its Reconciler reads a set with its ConfigMap,
// has the policies checked and tested, assigns them to their controllers, keeps the texts, and writes
// the status.
package policies

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	runtimesource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/go-logr/logr"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/release"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/requirements"
	"github.com/edict-dev/edict/engine/source"
)

// Options configure a Reconciler.
type Options struct {
	// Client reads PolicySets and ConfigMaps from a cache.
	Client client.Client
	// Namespace is the namespace of the PolicySets, Version that of the process.
	Namespace, Version string

	Log      *slog.Logger
	Events   *events.Recorder
	Checker  *check.Checker
	Accounts *identity.Accounts
	// Params are values from the command line. They take precedence over those of sets.
	Params compile.Overrides
	// Releaser removes finalizers from objects.
	Releaser release.Releaser
	// SetGuard is called with the allowances of all sets.
	SetGuard func(guard.Guard)
}

// Reconciler runs the policies of PolicySets.
type Reconciler struct {
	options Options
	// changed has sets whose policies have changed.
	changed chan event.GenericEvent
	// started is closed when runtime is set.
	started chan struct{}
	runtime *controller.Runtime
	// settled reports whether all sets of the start were reconciled, outdated whether the CRD of
	// PolicySets is older than this process.
	settled, outdated atomic.Bool
	// defined is when a CRD has last changed, in nanoseconds.
	defined atomic.Int64

	policies *lifecycle.Registry
	tests    *check.TestRunner
	rechecks *check.Rechecker
	rollouts *rollouts
	// surveys has those that have ended.
	surveys chan *survey
	// sets are the states of the sets, by name. Only Reconcile uses them.
	sets map[string]*setState
	// closed identifies the fields that pinned sets obey.
	closed string
	gauges observe.Gauges
}

const (
	// healthInterval is the interval between two reconciliations of a set.
	healthInterval = 3 * time.Second
	// recheckInterval is the first interval between checks of a refused text: the types of the
	// cluster change without an edit.
	recheckInterval = 15 * time.Second
)

// New returns a Reconciler that waits for Start.
func New(o Options) *Reconciler {
	return &Reconciler{
		options: o, changed: make(chan event.GenericEvent, 1024), started: make(chan struct{}), sets: map[string]*setState{}, surveys: make(chan *survey, 1),
		tests: check.NewTestRunner(o.Checker), rechecks: check.NewRechecker(o.Checker),
	}
}

// SetupWithManager adds the reconciler to a manager. The first request is for no set: without any,
// the reconciler is ready as well.
func (r *Reconciler) SetupWithManager(m manager.Manager) error {
	r.enqueue("-")
	return builder.ControllerManagedBy(m).Named("policyset").
		For(&edictv1.PolicySet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.setsOf)).
		WatchesRawSource(runtimesource.Channel(r.changed, &handler.EnqueueRequestForObject{})).
		WithOptions(runtimecontroller.Options{MaxConcurrentReconciles: 1, SkipNameValidation: new(true)}).
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return logr.FromSlogHandler(r.options.Log.Handler()) }).
		Complete(r)
}

// setsOf returns the sets that a ConfigMap is the source of.
func (r *Reconciler) setsOf(ctx context.Context, m client.Object) (out []reconcile.Request) {
	var list edictv1.PolicySetList
	if err := r.options.Client.List(ctx, &list, client.InNamespace(m.GetNamespace())); err != nil {
		return nil
	}
	for i := range list.Items {
		if s := &list.Items[i]; s.Spec.Source.ConfigMap.Name == m.GetName() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
		}
	}
	return out
}

// Start runs the policies by a runtime. It must be called once.
func (r *Reconciler) Start(runtime *controller.Runtime) {
	r.runtime, r.policies = runtime, runtime.Policies()
	r.rollouts = &rollouts{policies: r.policies, steps: runtime, brakes: runtime.Brakes().State, log: r.options.Log, active: map[string]*activeRollout{}, left: map[string]leftRollout{}}
	runtime.Go(func() { r.watchDefinitions(runtime.Context()) })
	close(r.started)
}

// Changed has the set of a policy reconciled.
func (r *Reconciler) Changed(policy string) {
	set, _ := identity.ParsePolicyID(policy)
	r.enqueue(set)
}

func (r *Reconciler) enqueue(set string) {
	s := &edictv1.PolicySet{}
	s.Namespace, s.Name = r.options.Namespace, set
	select {
	case r.changed <- event.GenericEvent{Object: s}:
	default: // every set is reconciled again in a moment
	}
}

func (r *Reconciler) enqueueAll() {
	for name := range r.sets {
		r.enqueue(name)
	}
}

// Ready reports whether the sets were read and their policies have reported.
func (r *Reconciler) Ready() bool { return r.settled.Load() }

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	select {
	case <-ctx.Done():
		return reconcile.Result{}, ctx.Err()
	case <-r.started:
	}
	if !r.settled.Load() {
		if err := r.begin(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.complete()
	set := &edictv1.PolicySet{}
	err := r.options.Client.Get(ctx, request.NamespacedName, set)
	if apierrors.IsNotFound(err) {
		r.remove(ctx, request.Name)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return r.reconcile(ctx, set)
}

// begin starts the policies of all sets together: what all of them read is known before it is
// watched.
func (r *Reconciler) begin(ctx context.Context) error {
	var list edictv1.PolicySetList
	if err := r.options.Client.List(ctx, &list, client.InNamespace(r.options.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		s, err := r.restore(ctx, &list.Items[i])
		if err != nil {
			return err
		}
		r.sets[s.name()] = s
	}
	r.guard()
	for _, s := range r.sets {
		if s.set.DeletionTimestamp != nil {
			continue
		}
		if err := r.read(ctx, s); err != nil {
			return err
		}
	}
	r.check(ctx)
	var all []*lifecycle.Revision
	for _, s := range r.ordered() {
		if s.set.DeletionTimestamp == nil {
			all = append(all, r.assign(ctx, s, true)...)
		}
	}
	r.runtime.RunAll(all)
	r.settled.Store(true)
	return nil
}

func (r *Reconciler) ordered() []*setState {
	return slices.SortedFunc(maps.Values(r.sets), func(a, b *setState) int { return cmp.Compare(a.name(), b.name()) })
}

// complete takes the results of tests and checks that ran in the background.
func (r *Reconciler) complete() {
	for {
		select {
		case done := <-r.tests.Ended():
			r.tests.Complete(done, r.policies)
		case done := <-r.rechecks.Ended():
			r.rechecks.Complete(done, r.policies)
		case one := <-r.surveys:
			r.surveyed(one)
		default:
			return
		}
	}
}

// background runs a function, and has all sets reconciled when it has ended.
func (r *Reconciler) background(do func()) {
	names := slices.Collect(maps.Keys(r.sets))
	r.runtime.Go(func() {
		do()
		for _, name := range names {
			r.enqueue(name)
		}
	})
}

// reconcile brings the policies of a set up to the set and its text.
func (r *Reconciler) reconcile(ctx context.Context, set *edictv1.PolicySet) (reconcile.Result, error) {
	s := r.sets[set.Name]
	if s == nil || s.set.UID != set.UID {
		var err error
		if s, err = r.restore(ctx, set); err != nil {
			return reconcile.Result{}, err
		}
		r.sets[set.Name] = s
	}
	s.set = set
	r.guard()
	if set.DeletionTimestamp != nil {
		return r.delete(ctx, s)
	}
	if err := r.read(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	r.rollouts.retry(s)
	r.check(ctx)
	r.tests.Next(ctx, r.catalog(), r.policies, r.background)
	for _, rev := range r.assign(ctx, s, false) {
		r.runtime.Run(rev)
		r.askAll()
	}
	r.retain(s.name(), s.policyIDs(r.policies))
	if err := r.follow(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: healthInterval}, nil
}

// follow records what has become of the policies of a set: in the history and the status.
func (r *Reconciler) follow(ctx context.Context, s *setState) error {
	now := time.Now()
	for _, id := range s.ids(r.policies) {
		if p := r.policies.Get(id); p.Newest != nil && r.due(&p) {
			r.rechecks.Start(ctx, id, p.Newest, s.contents, recheckInterval, r.background)
		}
	}
	r.noteActive(s)
	r.ask(ctx, s, now)
	r.count(s, now)
	err := r.keep(ctx, s)
	r.rollouts.check(s, now, func() error { return r.writeStatus(ctx, s, now) })
	err = errors.Join(err, r.writeStatus(ctx, s, now))
	r.report(s, now)
	r.measure()
	return err
}

// askInterval is how often it is asked whether the policies that run would start again.
const askInterval = time.Minute

// ask asks whether the policies of a set that run would start again: each minute, and while the types of a
// CRD that has changed may not be published yet.
func (r *Reconciler) ask(ctx context.Context, s *setState, now time.Time) {
	if now.Sub(s.asked) < askInterval && s.asked.Sub(time.Unix(0, r.defined.Load())) > discovery.SchemaTimeout {
		return
	}
	s.asked, s.obstacles = now, map[string]obstacle{}
	for _, id := range s.ids(r.policies) {
		if p := r.policies.Get(id); p.Report.Event == lifecycle.Activated && p.Assigned != nil && p.Assigned.Plan != nil {
			s.obstacles[id] = r.restart(ctx, p.Assigned)
		}
	}
	before := s.overlap
	if s.overlap = r.overlap(s); s.overlap != "" && s.overlap != before {
		r.event(s, corev1.EventTypeWarning, "FieldShared", s.overlap)
	}
}

// restart checks whether a revision would start again.
func (r *Reconciler) restart(ctx context.Context, rev *lifecycle.Revision) obstacle {
	err := r.runtime.Unmet(ctx, rev.Plan)
	_, forbidden := errors.AsType[*requirements.Forbidden](err)
	switch {
	case forbidden:
		return obstacle{"PermissionMissing", err.Error()}
	case errors.Is(err, discovery.ErrNotServed):
		return obstacle{"KindNotServed", err.Error()}
	case err != nil:
		return obstacle{"RequirementMissing", err.Error()}
	}
	if v := r.options.Checker.Text(ctx, rev.Unit); v.Plan == nil {
		return obstacle{"FieldRemoved", errors.Join(errors.New("the types of the cluster have changed"), document.Join(v.Problems)).Error()}
	}
	return obstacle{}
}

// overlap names a field that a policy of a set and one of another set enforce; empty if there is none.
func (r *Reconciler) overlap(s *setState) string {
	var mine, others []*plan.Policy
	for _, id := range r.policies.RunningIDs() {
		one := r.policies.Get(id).Assigned
		switch set, _ := identity.ParsePolicyID(id); {
		case one == nil || one.Plan == nil || one.Plan.Mode != plan.Enforce:
		case set == s.name():
			mine = append(mine, one.Plan)
		default:
			others = append(others, one.Plan)
		}
	}
	for _, p := range mine {
		for _, other := range others {
			if all := graph.Conflicts([]*plan.Policy{other, p}); len(all) > 0 {
				return all[0].String() + "; if they disagree, the younger one is paused: let one of them write it"
			}
		}
	}
	return ""
}

// askAll asks the next time for all sets.
func (r *Reconciler) askAll() {
	for _, s := range r.sets {
		s.asked = time.Time{}
	}
}

// due reports whether another check may judge the newest text of a policy otherwise.
func (r *Reconciler) due(p *lifecycle.Policy) bool {
	v := p.Newest
	return v.Plan == nil && !v.Compiled && !v.Disabled() || r.untyped(p)
}

// untyped reports whether a text was checked without types that the cluster publishes now,
// and is active, or does not fit them. Before they are published, another check would
// find the same.
func (r *Reconciler) untyped(p *lifecycle.Policy) bool {
	unfit := p.Newest.Good() && p.Report.Event == lifecycle.Failed
	return (unfit || p.RunsNewest()) && !p.Newest.Typed && r.options.Checker.Typed(p.Newest.Plan)
}

// catalog returns the texts of all sets.
func (r *Reconciler) catalog() *source.Catalog {
	var all []*source.Contents
	for _, s := range r.ordered() {
		if s.contents != nil {
			all = append(all, s.contents)
		}
	}
	return source.NewCatalog(all, r.options.Params)
}

// check checks the policies of all sets that have changed.
func (r *Reconciler) check(ctx context.Context) {
	r.options.Checker.All(ctx, r.catalog(), r.policies, r.wasActive)
}

// remove stops the policies of a set that is gone.
func (r *Reconciler) remove(ctx context.Context, name string) {
	s := r.sets[name]
	if s == nil {
		return
	}
	delete(r.sets, name)
	r.guard()
	r.end(ctx, s)
	r.measure()
}

// end stops the policies of a set that is deleted.
func (r *Reconciler) end(ctx context.Context, s *setState) {
	s.contents, s.read = nil, ""
	r.check(ctx)
	for _, id := range s.ids(r.policies) {
		r.rollouts.end(id, "the set was deleted")
		if r.policies.Get(id).Assigned != nil {
			r.runtime.Stop(id)
		}
	}
	r.runtime.Brakes().SetHolds(s.name(), nil)
	r.retain(s.name(), nil)
}

// retain ends the pauses of the policies of a set, except those with the IDs.
func (r *Reconciler) retain(set string, ids []string) {
	r.runtime.Brakes().Brakes().Retain(func(id string) bool {
		of, _ := identity.ParsePolicyID(id)
		return of != set || slices.Contains(ids, id)
	})
}

// key returns the key of a set.
func (r *Reconciler) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: r.options.Namespace, Name: name}
}
