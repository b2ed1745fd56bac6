package reload

import (
	"context"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/world"
)

// nothing is a fake writer for benchmarks: it drops what it is given.
type nothing struct{}

func (nothing) Patch(context.Context, apply.Patch) (world.Version, error) {
	return world.Version{}, nil
}
func (nothing) Event(context.Context, apply.Event) error     { return nil }
func (nothing) Evict(context.Context, apply.Deletion) error  { return nil }
func (nothing) Delete(context.Context, apply.Deletion) error { return nil }
func (nothing) Make(context.Context, apply.Manifest) (world.Version, error) {
	return world.Version{}, nil
}
func (nothing) Live(context.Context, world.ID) (world.Version, string, error) {
	return world.Version{}, "", nil
}
