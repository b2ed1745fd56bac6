package edict

import (
	"context"
	"fmt"
	"strconv"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/bench/byhand"
)

// writer takes patches as the writer of the controller does, up to the bytes that are
// sent, and answers with the next version of the object.
type writer struct {
	send func(byhand.Write)
	// plain takes patches without encoding them.
	plain bool
	// still answers with no version: the write does not come back as an event.
	still bool
}

var _ apply.Writer = (*writer)(nil)

// Patch implements apply.Writer.
func (w *writer) Patch(_ context.Context, p apply.Patch) (world.Version, error) {
	out := byhand.Write{Kind: p.Target.Kind(), Name: p.Target.Name(), Subresource: p.Subresource}
	if w.plain {
		out.Plain, _ = value.Plain(p.Locked()).(map[string]any)
	} else {
		body, err := value.JSON(p.Locked())
		if err != nil {
			return world.Version{}, err
		}
		out.Body = body
	}
	w.send(out)
	return w.next(p), nil
}

// next returns the version that a patch leads to: the next generation, too, if the
// spec has changed.
func (w *writer) next(p apply.Patch) world.Version {
	version, err := strconv.Atoi(p.ResourceVersion)
	if err != nil || w.still {
		return world.Version{}
	}
	next := world.Version{ResourceVersion: strconv.Itoa(version + 1), Generation: 1}
	if p.Subresource == "" {
		next.Generation++
	}
	return next
}

// Event implements apply.Writer.
func (*writer) Event(context.Context, apply.Event) error { return nil }

// Delete implements apply.Writer.
func (*writer) Delete(_ context.Context, d apply.Deletion) error {
	return fmt.Errorf("%s %s is deleted, which no policy here does", d.Target.Kind(), d.Target.Name())
}

// Evict implements apply.Writer.
func (*writer) Evict(_ context.Context, d apply.Deletion) error {
	return fmt.Errorf("%s %s is evicted, which no policy here does", d.Target.Kind(), d.Target.Name())
}

// Make implements apply.Writer.
func (*writer) Make(_ context.Context, m apply.Manifest) (world.Version, error) {
	return world.Version{}, fmt.Errorf("%s %s is made, which no policy here does", m.Target.Kind(), m.Target.Name())
}

// Live implements apply.Writer.
func (*writer) Live(context.Context, world.ID) (world.Version, string, error) {
	return world.Version{}, "", nil
}
