package apiserver

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/world"
)

// storage holds the objects as they are now.
type storage struct {
	objects map[world.ID]Object
	// owners are the objects by uid.
	owners map[string]world.ID
	// last are the uids of the last objects of each identity.
	last map[world.ID]string
	// serial counts the changes.
	serial  int
	changed func(id world.ID, old, now Object)
}

// copied returns a storage that has the same objects now.
func (s *storage) copied(changed func(id world.ID, old, now Object)) *storage {
	return &storage{objects: maps.Clone(s.objects), owners: maps.Clone(s.owners), last: maps.Clone(s.last), serial: s.serial, changed: changed}
}

func (s *storage) version() string { return strconv.Itoa(s.serial) }

// list returns every object, sorted by kind, namespace and name.
func (s *storage) list() []Object {
	return s.sorted(slices.Collect(maps.Keys(s.objects)))
}

func (s *storage) sorted(ids []world.ID) []Object {
	slices.SortFunc(ids, world.CompareIDs)
	out := make([]Object, len(ids))
	for i, id := range ids {
		out[i] = s.objects[id]
	}
	return out
}

// add takes a new object; what it says of its identity is kept.
func (s *storage) add(kind kind, next Object) {
	id, m := ID(next), metadata(next)
	s.serial++
	setDefault(m, "uid", uid(id, s.last[id]))
	s.last[id] = text(m, "uid")
	if kind.generations() {
		setDefault(m, "generation", int64(1))
	}
	m["resourceVersion"] = s.version()
	s.objects[id] = next
	s.owners[text(m, "uid")] = id
	s.changed(id, nil, next)
}

// uid returns the uid of the next object of an identity, of which the last one had another
// uid, or "" for none. It does not depend on what else there is, so that owner references
// are the same in a part of the world.
func uid(id world.ID, last string) string {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%q %q %q %q %q", id.APIVersion(), id.Kind(), id.Namespace(), id.Name(), last)
	return fmt.Sprintf("uid-%016x", sum.Sum64())
}

func (s *storage) set(old, next Object) {
	s.serial++
	metadata(next)["resourceVersion"] = s.version()
	id := ID(next)
	s.objects[id] = next
	s.changed(id, old, next)
}

// remove takes an object out, and reports whether it was there.
func (s *storage) remove(old Object) bool {
	id := ID(old)
	if s.objects[id] == nil {
		return false
	}
	delete(s.objects, id)
	delete(s.owners, text(metadata(old), "uid"))
	s.changed(id, old, nil)
	return true
}

// suffix returns the end of a generated name. Names are never used twice, so the
// next number does what random letters do elsewhere.
func (s *storage) suffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	var out strings.Builder
	for n, i := s.serial+1, 0; i < 5; i++ {
		out.WriteByte(letters[n%len(letters)])
		n /= len(letters)
	}
	return out.String()
}
