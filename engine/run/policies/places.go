package policies

import (
	"slices"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// hold keeps the policies that run, are to, or did, for the files that they were last found
// in: while that cannot be told of a file, no other takes its policies over. What does not
// run any more may be disabled by the text that cannot be read. It then notes where the
// policies are.
func (s *historyStore) hold(c *source.Catalog, policies *lifecycle.Registry) {
	ids := policies.AssignedIDs()
	for id, list := range s.entries {
		if history.InForce(list) != nil {
			ids = append(ids, id)
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		s.places[id] = s.place(id, policies.Get(id).Assigned)
		c.Hold(id, s.places[id])
	}
	for id, u := range c.Units {
		s.places[id] = u.File.Path
	}
}

// place returns the file in which a policy was last found. The history says it of one
// that this process has not found yet. Now is what runs of it; nil is nothing.
func (s *historyStore) place(id string, now *lifecycle.Revision) string {
	list := s.entries[id]
	switch {
	case s.places[id] != "":
		return s.places[id]
	case len(list) > 0: // also one that was refused
		return list[len(list)-1].File
	case now != nil:
		return now.Unit.File.Path
	default:
		return ""
	}
}
