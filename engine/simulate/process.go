package simulate

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/world"
)

// process is what a process of the controller has in memory, which is lost with it.
type process struct {
	group *reconcile.Group
	// controllers are those of the group, by policy.
	controllers map[string]*reconcile.Controller
	// stamps has the policies that write the time of the evaluation.
	stamps  map[string]bool
	sources map[world.Source]labels.Selector
	agenda  *agenda
}

// newProcess returns a process that has not begun, and has no policies yet.
func newProcess(o *Options, w *server, a *agenda) *process {
	g := reconcile.NewGroup(world.NewStore(), w, o.Schemas)
	g.Counts = func(*plan.Policy) *observe.Counts { return observe.Unseen() }
	g.Records = o.Records
	g.Digests = true
	g.SetGuard(o.Guard)
	g.Brakes = o.Brakes
	return &process{group: g, controllers: map[string]*reconcile.Controller{}, stamps: map[string]bool{}, sources: map[world.Source]labels.Selector{}, agenda: a}
}

// begin starts the controllers of policies on the world as it is.
func (p *process) begin(ctx context.Context, policies []*plan.Policy, objects []Object) {
	for _, policy := range policies {
		if policy.Mode == plan.Enforce {
			p.group.Add(policy)
		}
	}
	for _, source := range p.group.AllSources() {
		selector, err := labels.Parse(source.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		p.sources[source] = selector
	}
	for _, object := range objects {
		p.feed(ctx, apiserver.ID(object), nil, object)
	}
	for _, c := range p.group.Controllers() {
		p.controllers[c.Policy.ID()], p.stamps[c.Policy.ID()] = c, c.Policy.Stamps()
		c.MarkInitial()
		for _, key := range c.Keys() {
			p.agenda.work.add(item{c.Policy.ID(), key})
		}
	}
}

// feed tells the controllers of a change, as informers would.
func (p *process) feed(ctx context.Context, id world.ID, old, now Object) {
	for source, selector := range p.sources {
		if !source.May(id) {
			continue
		}
		var woken []reconcile.Wake
		switch {
		case now != nil && selector.Matches(apiserver.Labels(now)):
			woken = p.group.Put(ctx, source, now)
		case old != nil:
			woken = p.group.Delete(ctx, source, id.Namespace(), id.Name())
		}
		for _, w := range woken {
			p.agenda.work.add(item{w.Controller.Policy.ID(), w.Key})
		}
	}
}

// restore gives keys what they remembered before.
func (p *process) restore(m Memory) {
	for policy, keys := range m {
		for key, values := range keys {
			if c := p.controllers[policy]; c != nil {
				c.Restore(key, values)
			}
		}
	}
}

// keys counts the keys that the controllers decide about.
func (p *process) keys() (n int) {
	for _, c := range p.controllers {
		n += c.Count()
	}
	return n
}
