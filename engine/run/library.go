package run

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// library keeps the policies of the ConfigMaps running.
type library struct {
	*term
	readings readings
	judge    judge
	store    *revisionStore
	// wake holds an item when something may have changed.
	wake    chan struct{}
	trials  *trials
	journal *journal
	told    *notices
	first   bool
	// seen are the UIDs of the ConfigMaps that are read, by name, uids also those
	// of ConfigMaps that are gone. unlabelled are names of ConfigMaps that were
	// read, or say so, and are not.
	seen, uids map[string]string
	unlabelled map[string]bool
	// bare are the unlabelled ones as they last were.
	bare     map[string]*corev1.ConfigMap
	recorder record.EventRecorder
	// ills are what fails of the policies, by ID.
	ills map[string]string
	// unfinished says that something could not be written.
	unfinished bool
}

// gather is how long changes are gathered: an edit of several ConfigMaps is
// taken as one.
const gather = 20 * time.Millisecond

// againInterval is how often what is refused is judged again: the types of the
// cluster change without an edit.
const againInterval = 15 * time.Second

// doubt has the texts judged again that were refused, and reports whether there is
// anything to do.
func (l *library) doubt() (any bool) {
	for _, id := range l.policies.Checked() {
		if v := l.policies.Get(id).Newest; v.Plan == nil && !v.Compiled && !v.Disabled() {
			l.policies.Recheck(id)
			any = true
		}
	}
	return any || l.unfinished
}

// ailing reports whether it has changed what fails.
func (l *library) ailing() bool {
	now := map[string]string{}
	for _, id := range l.policies.AssignedIDs() {
		if d := l.degraded(id); d != nil {
			now[id] = d.text
		}
		if rivals := l.rivals(id); rivals != "" {
			now[id] += rivals
		}
		if note := l.braked(id); note.text() != "" {
			now[id] += note.text()
		}
	}
	same := maps.Equal(now, l.ills)
	l.ills = now
	return !same
}

// follow runs the policies of the ConfigMaps of a namespace.
func (t *term) follow() {
	t.behind.Store(true) // the ConfigMaps themselves are not read yet
	l := &library{term: t, wake: make(chan struct{}, 1), first: true}
	l.uids, l.unlabelled, l.bare = map[string]string{}, map[string]bool{}, map[string]*corev1.ConfigMap{}
	t.changed = l.nudge
	t.onEdit.Store(&t.changed)
	t.term.Store(t)
	t.wg.Go(func() {
		if err := l.run(t.watching); err != nil && t.watching.Err() == nil {
			t.Log.Error("policies cannot be followed", "namespace", t.PolicyNamespace, "error", err.Error())
		}
	})
}

func (l *library) nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // there is one already
	}
}

func (l *library) run(ctx context.Context) error {
	l.judge = judge{process: l.process}
	l.trials = newTrials(l.judge)
	recorder, stop := newRecorder(l.client)
	defer stop()
	l.recorder = recorder
	l.store, l.told, l.journal = newRevisionStore(l.process, l.client), newNotices(l.process, l.client, recorder), newJournal(l.process)
	if !cache.WaitForCacheSync(ctx.Done(), l.shelf.synced...) {
		return ctx.Err()
	}
	l.recollect(ctx)
	l.journal.log(l.journal.read(ctx))
	l.store.refuse(ctx, l.journal.dead)
	defer func() { l.journal.clear(context.WithoutCancel(ctx)) }()
	l.leftovers(ctx)
	if !l.brakes.start(ctx) {
		return ctx.Err()
	}
	shadows := time.NewTicker(shadowInterval)
	defer shadows.Stop()
	again := time.NewTicker(againInterval)
	defer again.Stop()
	healths := time.NewTicker(healthInterval)
	defer healths.Stop()
	for {
		if err := l.look(ctx); err != nil {
			l.Log.Error("the policies cannot be brought up to date, and will be tried again", "error", err.Error())
			time.AfterFunc(time.Second, l.nudge)
		}
		for woken := false; !woken; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-shadows.C:
				l.tellShadows(ctx)
			case <-again.C:
				woken = l.doubt()
			case <-healths.C:
				l.told.flush(time.Now())
				back := l.takeBack(time.Now())
				woken = l.ailing() || back
			case <-l.wake:
				woken = true
			case done := <-l.trials.ended:
				l.trials.end(done, l.policies)
				woken = true
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(gather):
		}
	}
}

// recollect reads the last good revisions. Without them a policy that is broken
// now would not run, so it is tried for as long as that may help.
func (l *library) recollect(ctx context.Context) {
	for ctx.Err() == nil {
		err := l.store.read(ctx)
		if err == nil {
			return
		}
		l.Log.Error("the last good revisions cannot be read", "error", err.Error())
		if apierrors.IsForbidden(err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(l.PollInterval):
		}
	}
}

// look brings the running policies up to what the ConfigMaps say, and says in
// them what has become of it.
func (l *library) look(ctx context.Context) error {
	select { // what woke us is looked at now
	case <-l.wake:
	default:
	}
	catalog, err := l.shelf.catalog(&l.readings, l.typed())
	if err != nil {
		return err
	}
	for _, id := range l.policies.Checked() { // its kinds have come since
		p := l.policies.Get(id)
		if p.Newest.Good() && !p.Newest.Typed && p.Newest.Recheck == lifecycle.NotRechecked && p.Report.Event == lifecycle.Activated {
			l.policies.Recheck(id)
		}
	}
	l.lost(catalog)
	l.judge.all(catalog, l.policies, func(u *source.Unit) *document.Problem { return l.tries(ctx, u) })
	if l.first {
		l.strangers(catalog)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.trials.next(ctx, catalog, l.policies, l.wg.Go)
	l.dispatch(catalog)
	if l.journal.prove(ctx, l.policies, time.Now()) {
		time.AfterFunc(proving, l.nudge)
	}
	unkept := l.store.keepInForce(ctx, l.policies.TakeActivated())
	unkept = l.store.keep(ctx, catalog, l.policies) || unkept
	untold := l.told.publish(ctx, append(l.notes(catalog), l.strayNotes(ctx)...), l.live)
	l.unfinished = unkept || untold
	l.braking(catalog)
	l.measure(catalog)
	if l.settled() {
		l.behind.Store(false)
	}
	return nil
}

// live returns the annotations that a ConfigMap has, also one without a label.
func (l *library) live(m *source.ConfigMap) (annotations map[string]string, version string) {
	if annotations, version = l.shelf.annotations(m); version != "" {
		return annotations, version
	}
	if bare := l.bare[m.Name]; bare != nil {
		return bare.Annotations, bare.ResourceVersion
	}
	return nil, ""
}

// settled reports whether it is known of every policy whether it runs, and the
// ConfigMaps say so: whoever waits for this process and looks at them then is
// not to find what was before.
func (l *library) settled() bool { return l.policies.Settled() && len(l.wake) == 0 }

// tries notes that a text is about to be compiled for the first time, or says why
// it is not to be: it has ended a process before.
func (l *library) tries(ctx context.Context, u *source.Unit) *document.Problem {
	if u.Disabled() {
		return nil
	}
	if problem := l.journal.quarantined(u, time.Now()); problem != nil {
		return problem
	}
	if good := l.store.good(u.ID()); good != nil && good.Revision == u.Revision() || l.policies.Get(u.ID()).Proven == u.Revision() {
		return nil
	}
	l.journal.begin(ctx, u)
	return nil
}

// strangers tells of values that were typed for policies that are not there;
// they may come yet.
func (l *library) strangers(c *source.Catalog) {
	for _, name := range sortedKeys(l.Params) {
		if c.Units[name] == nil && c.Units[name+plan.ShadowSuffix] == nil {
			l.Log.Warn("values are given with --param for a policy that no ConfigMap holds", observe.LogPolicy, name)
		}
	}
}

// measure says of which policies the newest text is refused.
func (l *library) measure(c *source.Catalog) {
	observe.Failed.Reset()
	for _, id := range l.known(c) {
		p, failed := l.policies.Get(id), 0.0
		if p.Newest == nil || p.Phase == lifecycle.Refused || p.Report.Event == lifecycle.Failed {
			failed = 1
		}
		observe.Failed.WithLabelValues(id).Set(failed)
	}
}

func (p *process) typed() compile.Overrides {
	return compile.TypedOverrides(p.Params, source.Typed)
}

// dispatch hands what has changed to the runners, and stops those that are not
// wanted any more.
func (l *library) dispatch(catalog *source.Catalog) {
	var fresh []*lifecycle.Revision
	wanted := map[string]bool{}
	for _, id := range l.known(catalog) {
		rev := l.wanted(id, catalog)
		if rev == nil {
			continue
		}
		wanted[id] = true
		if now := l.policies.Get(id).Assigned; now == nil || !rev.Unit.Same(now.Unit) {
			rev = l.withFallback(id, rev.ReadFrom(catalog))
		}
		if l.policies.Assign(id, rev, l.first) {
			fresh = append(fresh, rev)
		}
	}
	for _, id := range l.policies.AssignedIDs() {
		if !wanted[id] {
			l.stopped(id, l.policies.Get(id).Assigned.Unit, catalog)
			l.drop(id)
		}
	}
	if l.first {
		l.first = false
		l.adoptAll(fresh)
		return
	}
	for _, rev := range fresh {
		l.adopt(rev, func() {})
	}
}

// known returns the IDs of all policies that were ever heard of and not taken
// away.
func (l *library) known(c *source.Catalog) []string {
	all := map[string]bool{}
	for id := range c.Units {
		all[id] = true
	}
	for _, id := range l.policies.AssignedIDs() {
		all[id] = true
	}
	for id := range l.store.entries {
		if l.store.good(id) != nil {
			all[id] = true
		}
	}
	return sortedKeys(all)
}

// wanted returns the revision of a policy that shall run: the one that its
// ConfigMap holds, or where that is refused the last good one. Nil is none.
func (l *library) wanted(id string, c *source.Catalog) *lifecycle.Revision {
	p := l.policies.Get(id)
	v, now := p.Newest, p.Assigned
	switch {
	case v != nil && v.Unit.Disabled():
		return nil
	case p.Instead() != nil:
		return p.Instead()
	case v == nil && now != nil && c.Stopped(now.Unit.Name(), now.Unit.File.Path, id != now.Unit.Name()):
		return nil // also while it cannot be read
	case v != nil && v.Good():
		return &v.Revision
	case now != nil && (v != nil || c.Unreadable(now.Unit.File.Path) || c.Undecided(now.Unit.Name(), now.Unit.File.Path)):
		return now // it goes on
	case now == nil && l.broken(v, l.store.good(id), c):
		return l.store.lastGood(id, l.judge)
	default:
		return nil
	}
}

// broken reports whether a policy is wanted of which only a copy is good: it is
// refused, or may be in a file that cannot be read.
func (l *library) broken(v *lifecycle.CheckResult, kept *history.Entry, c *source.Catalog) bool {
	if v != nil && v.TestsPending { // what was good runs until the tests have ended
		return l.first && kept != nil
	}
	if v != nil {
		return !v.Unit.Undecided
	}
	return kept != nil && c.Unreadable(kept.File) && !c.Stopped(kept.Policy, kept.File, false)
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
