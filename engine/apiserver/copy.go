package apiserver

import (
	"maps"
	"time"
)

// Copy returns a server that has the same objects now, and its own from now on. It
// tells nobody of changes. Both are used by the same goroutine.
func (s *Server) Copy(now func() time.Time) *Server {
	out := New(s.schemas, now)
	out.objects, out.owners, out.serial, out.fields = maps.Clone(s.objects), maps.Clone(s.owners), s.serial, s.fields
	return out
}
