package policies

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// Follower runs the policies of the ConfigMaps of a namespace in a replica that shares
// the work, but leaves what concerns whole policies to another one. It runs what the
// history says is in force: that was checked and tested, and has ended no process. It
// writes nothing.
type Follower struct {
	options  Options
	policies *lifecycle.Registry
	history  *historyStore
	cache    configmap.Cache
	wake     chan struct{}
	behind   atomic.Bool
	// seen is what was in the ConfigMaps and noted of them when the history was last read, due
	// that it is to be read whatever is there now.
	seen map[string]string
	due  bool
	// looked is the version of the history that was acted on last.
	looked atomic.Pointer[string]
}

const (
	// followInterval is the interval between looks at the history. It is read before that
	// when a ConfigMap was edited, or its status says that another text was observed, that
	// other revisions are in force, or that it is waited for: that is written after the
	// history.
	followInterval = 15 * time.Second
	// followGather is how long changes are gathered.
	followGather = 200 * time.Millisecond
)

// NewFollower returns a Follower that does not run yet.
func NewFollower(o Options) *Follower {
	f := &Follower{options: o, policies: o.Runtime.Policies(), wake: make(chan struct{}, 1)}
	f.history = newHistoryStore(o.Client, o.Namespace, o.Checker, o.Log)
	f.behind.Store(true)
	return f
}

// Nudge has the history looked at soon.
func (f *Follower) Nudge() {
	select {
	case f.wake <- struct{}{}:
	default: // there is one already
	}
}

// Ready reports whether the history was read and all policies have reported.
func (f *Follower) Ready() bool { return !f.behind.Load() }

// Run follows the history until the context ends.
func (f *Follower) Run(ctx context.Context) error {
	if !f.options.Store.Wait(ctx) || !f.options.Runtime.StartBrakes() {
		return ctx.Err()
	}
	f.forget()
	looks := time.NewTicker(followInterval)
	defer looks.Stop()
	for starting := true; ; starting = false {
		f.options.Runtime.Brakes().Discard()
		if err := survive(f.options.Log, func() error { return f.look(ctx, starting) }); err != nil && ctx.Err() == nil {
			f.options.Log.Error("the policies cannot be brought up to date, and will be tried again", "error", err.Error())
			time.AfterFunc(f.options.Poll, f.Nudge)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-looks.C:
			f.due = true
		case <-f.wake:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followGather):
		}
	}
}

// forget forgets what was found in the newest texts while this replica led: another one
// checks them now. What runs goes on.
func (f *Follower) forget() {
	for _, id := range f.policies.Checked() {
		f.policies.Unread(id)
	}
}

// look brings the running policies up to the history.
func (f *Follower) look(ctx context.Context, starting bool) error {
	select { // changes until now are looked at now
	case <-f.wake:
	default:
	}
	noted, err := f.options.Store.Results() // what is noted after this is seen the next time
	if err != nil {
		return err
	}
	catalog, err := f.options.Store.Catalog(&f.cache, f.options.Overrides)
	if err != nil {
		return err
	}
	if err := f.readHistory(ctx, noted, catalog); err != nil {
		return err
	}
	f.history.hold(catalog, f.policies)
	f.assign(catalog, starting)
	version := f.history.version
	f.looked.Store(&version)
	if f.policies.Settled() {
		f.behind.Store(false)
	} else {
		time.AfterFunc(f.options.Poll, f.Nudge)
	}
	return nil
}

// Looked returns the version of the history that the assigned revisions are by; "" is that
// it was not read yet.
func (f *Follower) Looked() string {
	if now := f.looked.Load(); now != nil {
		return *now
	}
	return ""
}

// readHistory reads the history, unless it is as it was when it was last read. To noted it
// adds what is in the ConfigMaps.
func (f *Follower) readHistory(ctx context.Context, noted map[string]string, catalog *source.Catalog) error {
	for _, contents := range catalog.Contents {
		noted[contents.UID] += " " + catalog.Observed(contents)
	}
	if f.seen != nil && !f.due && maps.Equal(noted, f.seen) && !f.runsLost(catalog) {
		return nil
	}
	if err := f.history.read(ctx); err != nil {
		return err
	}
	f.seen, f.due = noted, false
	return nil
}

// runsLost reports whether a policy runs that no ConfigMap has: the one that leads is about
// to store that it is gone, and there is no status of it.
func (f *Follower) runsLost(catalog *source.Catalog) bool {
	return slices.ContainsFunc(f.policies.AssignedIDs(), func(id string) bool { return catalog.Units[id] == nil })
}

// assign gives the revisions in force to the controllers, and stops other policies.
func (f *Follower) assign(catalog *source.Catalog, starting bool) {
	wanted := map[string]bool{}
	var changed []*lifecycle.Revision
	for id := range f.history.entries {
		rev := f.wanted(id, catalog)
		if rev == nil {
			continue
		}
		wanted[id] = true
		if f.policies.Assign(id, rev, starting) {
			changed = append(changed, rev)
		}
	}
	for _, id := range f.policies.AssignedIDs() {
		if !wanted[id] {
			f.options.Runtime.Stop(id)
		}
	}
	if starting {
		f.options.Runtime.RunAll(changed)
		return
	}
	for _, rev := range changed {
		f.options.Runtime.Run(rev)
	}
}

// wanted returns the revision of a policy that is to run; nil is none.
func (f *Follower) wanted(id string, catalog *source.Catalog) *lifecycle.Revision {
	good := f.history.good(id)
	if u := catalog.Units[id]; good == nil || u != nil && u.Disabled() {
		return nil
	}
	p := f.policies.Get(id)
	now := p.Assigned
	if now != nil && now.Unit.Revision() == good.Revision && now.Staged == nil && !f.mayFit(&p) {
		return now
	}
	if rev := f.history.lastGood(id); rev != nil {
		return rev
	}
	return now // it goes on
}

// mayFit reports whether a revision did not fit the types of the cluster, which publishes
// others now: it is tried again.
func (f *Follower) mayFit(p *lifecycle.Policy) bool {
	return p.Report.Event == lifecycle.Failed && !p.Assigned.Typed && f.options.Checker.Typed(p.Assigned.Plan)
}
