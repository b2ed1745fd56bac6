package simulate

import (
	"maps"
	"time"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/world"
)

// Checkpoint is a world without its controllers: what is left when they are killed.
type Checkpoint struct {
	objects *apiserver.Server
	given   map[world.ID]Object
	clock   time.Time
}

// Checkpoint returns the world as it is now.
func (s *Simulation) Checkpoint() *Checkpoint {
	return &Checkpoint{objects: s.server.objects.Copy(s.Now), given: maps.Clone(s.server.given), clock: s.clock}
}

// restore makes the world of a simulation that of the checkpoint.
func (c *Checkpoint) restore(s *Simulation) {
	s.clock = c.clock
	s.server.take(c.objects.Copy(s.Now))
	s.server.given = maps.Clone(c.given)
}
