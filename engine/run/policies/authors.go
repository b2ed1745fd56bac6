package policies

import (
	"path"
	"time"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
)

// rollsBack reports whether a text leads back to what was in force before: to the same
// revision, unless that was rolled back itself, or by edict rollback to a
// text that was in force, also with other values for its params.
func (s *historyStore) rollsBack(u *source.Unit, c *source.Catalog) bool {
	list := s.entries[u.Name()]
	if len(list) == 0 {
		return false
	}
	if history.Kept(list, u.Revision()) {
		return true
	}
	last, now := list[len(list)-1], entryOf(u, c)
	by := last.Author
	if last.Revision != u.Revision() {
		by = author(last, now, u, c).Manager
	}
	return by == history.RollbackManager && history.WasInForce(list, now)
}

// author returns who wrote the present revision, and when. If the text is that of the
// revision before, values were edited. The removal of a value leaves no field whose
// manager could be asked, so that nobody is the author then, and not who wrote what is
// left.
func author(last, now *history.Entry, u *source.Unit, c *source.Catalog) source.Edit {
	if last.File != now.File || last.Owner != now.Owner || !last.SameText(now) {
		return textEdit(u, c)
	}
	by := source.Edit{}
	for _, v := range c.Values {
		if e := v.LastEdit(u.Name(), u.Document.Of); e.At.After(by.At) {
			by = e
		}
	}
	if by.At.Before(last.Edited) {
		return source.Edit{At: time.Now().Truncate(time.Second)}
	}
	return by
}

// textEdit returns who wrote the text of a policy, or the Rego beside it, and when.
func textEdit(u *source.Unit, c *source.Catalog) source.Edit {
	keys := []string{path.Base(u.File.Path)}
	for _, m := range u.Modules {
		keys = append(keys, path.Base(m.Name))
	}
	return c.Origins[u.ID()].LastEdit(keys...)
}
