package simulate

import (
	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/apply"
)

// NewWriter returns the writer that a simulation gives its controllers, on an API
// server in memory. It is for tests that run several controllers on one server, and
// come between them and it.
func NewWriter(s *apiserver.Server) apply.Writer { return &server{objects: s} }
