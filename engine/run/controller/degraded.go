package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/engine/watch"
)

// Degraded is what fails of a policy that runs.
type Degraded struct {
	// Reason names what fails; it stays the same while only the numbers change.
	Reason string
	Text   string
}

// add adds what fails, unless it is known.
func (d *Degraded) add(reason, text string) {
	if lines := strings.Split(d.Text, "\n"); text == "" || slices.Contains(lines, text) {
		return
	}
	if d.Text != "" {
		d.Reason, d.Text = d.Reason+" ", d.Text+"\n"
	}
	d.Reason, d.Text = d.Reason+reason, d.Text+text
}

// report sums up what fails here and in other replicas; nil if nothing does, or not for
// long enough.
func (h *health) report(now time.Time, watches func(*reconcile.Controller) string, others ...shards.Trouble) *Degraded {
	return degraded(append([]shards.Trouble{h.trouble(now, watches)}, others...))
}

// degraded sums up the troubles of replicas with one policy; nil if there are none.
func degraded(all []shards.Trouble) *Degraded {
	var out Degraded
	for i := range all {
		if text := all[i].Stopped; text != "" {
			out.add("writes are stopped", "writes are stopped: "+text)
		}
	}
	for i := range all {
		for text := range strings.Lines(all[i].Watches) {
			text = strings.TrimSuffix(text, "\n")
			out.add(text, text)
		}
	}
	out.add(failures(all))
	if out.Text == "" {
		return nil
	}
	return &out
}

// failures says how many objects fail in all replicas, with the first of them.
func failures(all []shards.Trouble) (reason, text string) {
	var first *shards.Trouble
	n, of := 0, 0
	for i := range all {
		t := &all[i]
		n, of = n+t.Failing, max(of, t.Objects)
		if t.Failing > 0 && (first == nil || watch.CompareKeys(t.First(), first.First()) < 0) {
			first = t
		}
	}
	if first == nil {
		return "", ""
	}
	reason = strings.ReplaceAll(first.Error, first.Name, "")
	return reason, fmt.Sprintf("%d of %d objects fail: %s %s: %s", n, max(n, of), first.Kind, first.First(), first.Error)
}

// Degraded returns what fails of a policy in all replicas; nil if nothing does.
func (r *Runtime) Degraded(id string) *Degraded {
	c := r.controller(id)
	if c == nil {
		return nil
	}
	now := time.Now()
	others, more := r.elsewhere(id)
	d := c.health.report(now, r.problems(now), others...)
	if d != nil && more > 0 {
		d.add("more", fmt.Sprintf("a replica has troubles with %d more policies than it can announce; its log has them", more))
	}
	return d
}

func (r *Runtime) problems(now time.Time) func(*reconcile.Controller) string {
	return func(c *reconcile.Controller) string { return r.informers.Problems(c, now) }
}

// elsewhere returns the troubles of other replicas with the revision in force, and how many
// policies there are that these replicas had no room for.
func (r *Runtime) elsewhere(id string) (out []shards.Trouble, more int) {
	p := r.policies.Get(id)
	if r.options.Others == nil || p.Report.InForce == "" {
		return nil, 0
	}
	for _, other := range r.options.Others() {
		for _, t := range other.Troubles {
			if t.Policy == id && t.Revision == p.Report.InForce {
				out, more = append(out, t), max(more, other.More)
			}
		}
	}
	return out, more
}

// Troubles returns what fails here of each policy that has troubles, for other replicas.
func (r *Runtime) Troubles() (out []shards.Trouble) {
	now := time.Now()
	for _, id := range r.policies.AssignedIDs() {
		c, p := r.controller(id), r.policies.Get(id)
		if c == nil || p.Assigned == nil {
			continue
		}
		t := c.health.trouble(now, r.problems(now))
		t.Policy, t.Revision, t.Braked = id, p.Report.InForce, r.brakedHere(id)
		if idle := idle(&p); idle != "" {
			t = shards.Trouble{Policy: id, Revision: p.Assigned.Unit.Revision(), Idle: idle}
		}
		if t.Any() {
			out = append(out, t)
		}
	}
	return out
}

// idle returns why the assigned revision of a policy does not run. While it is loaded, the
// report is about the one before.
func idle(p *lifecycle.Policy) string {
	switch {
	case p.Phase == lifecycle.Loading:
		return ""
	case p.Report.Event == lifecycle.Blocked, p.Report.Event == lifecycle.Failed:
		return p.Report.Reason
	default:
		return ""
	}
}
