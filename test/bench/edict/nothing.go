package edict

import (
	"context"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/world"
)

// Nothing is a writer that drops what it is given.
type Nothing struct{}

var _ apply.Writer = Nothing{}

// Patch implements apply.Writer.
func (Nothing) Patch(context.Context, apply.Patch) (world.Version, error) {
	return world.Version{}, nil
}

// Event implements apply.Writer.
func (Nothing) Event(context.Context, apply.Event) error { return nil }

// Evict implements apply.Writer.
func (Nothing) Evict(context.Context, apply.Deletion) error { return nil }

// Delete implements apply.Writer.
func (Nothing) Delete(context.Context, apply.Deletion) error { return nil }

// Make implements apply.Writer.
func (Nothing) Make(context.Context, apply.Manifest) (world.Version, error) {
	return world.Version{}, nil
}

// Live implements apply.Writer.
func (Nothing) Live(context.Context, world.ID) (world.Version, string, error) {
	return world.Version{}, "", nil
}
