package apiserver

import (
	"time"
)

// Copy returns a server that has the same objects now, and its own from now on. It
// tells nobody of changes. Both are used by the same goroutine.
func (s *Server) Copy(now func() time.Time) *Server {
	out := New(s.schemas, now)
	out.storage, out.managers.known = s.storage.copied(out.tell), s.managers.known
	return out
}
