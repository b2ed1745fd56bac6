package brakes

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/brake"
)

// share brings the brakes up to what other replicas have stored: a pause of one holds
// for all, and one that is no longer there has been ended.
func (c *Controller) share(stored *view) {
	records := stored.records()
	for policy, shown := range c.shown {
		if ended := missing(shown, records[policy].Pauses); len(ended) > 0 {
			last := brake.Record{Pauses: ended}
			c.options.Wake(policy, c.brakes.Resume(policy, "another replica", last.AsOf()))
		}
	}
	c.shown = map[string][]brake.Pause{}
	for policy, r := range records {
		if r.Resumed != nil {
			continue
		}
		c.shown[policy] = r.Pauses
		c.brakes.Join(missing(r.Pauses, c.brakes.Pauses(policy)))
	}
}

// announce stores the pauses that this replica has found, and that the one which keeps the
// records does not know of.
func (c *Controller) announce(ctx context.Context, stored *view) {
	records := stored.records()
	data := map[string]string{}
	for policy, own := range c.brakes.Records() {
		r := records[policy]
		if found := missing(own.Pauses, r.Pauses); len(found) > 0 && r.Resumed == nil {
			r.Pauses = slices.Concat(r.Pauses, found)
			data[policy] = r.Text()
		}
	}
	if len(data) > 0 && !stored.write(ctx, brake.RecordsName, data) {
		c.Nudge()
	}
}

// missing returns the pauses that are not among others.
func missing(pauses, others []brake.Pause) (out []brake.Pause) {
	for i := range pauses {
		one := &pauses[i]
		if !slices.ContainsFunc(others, func(other brake.Pause) bool {
			return other.Revision == one.Revision
		}) {
			out = append(out, *one)
		}
	}
	return out
}
