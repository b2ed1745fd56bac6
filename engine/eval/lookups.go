package eval

import (
	"iter"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// lookups counts who reads which entries of the inputs.
type lookups struct {
	// entries are the counts of single entries, by input and key; others are all other
	// reads.
	entries []map[string]int32
	others  map[Lookup]int32
	changes []Lookup
}

// expect makes room for so many entries of an input, unless some are there.
func (l *lookups) expect(input, n int) {
	if entries := l.of(input); len(*entries) == 0 {
		*entries = make(map[string]int32, n)
		l.changes = slices.Grow(l.changes, n)
	}
}

// of returns the counts of the entries of an input.
func (l *lookups) of(input int) *map[string]int32 {
	for len(l.entries) <= input {
		l.entries = append(l.entries, nil)
	}
	return &l.entries[input]
}

func (l *lookups) add(at Lookup, n int) {
	if at.Whole || at.Target {
		l.others = counted(l, l.others, at, at, n)
		return
	}
	entries := l.of(at.Input)
	*entries = counted(l, *entries, at.Key, at, n)
}

// counted adds to a count, and notes where one begins or ends.
func counted[K comparable](l *lookups, counts map[K]int32, key K, at Lookup, n int) map[K]int32 {
	if counts == nil {
		counts = map[K]int32{}
	}
	were := len(counts)
	if n > 0 {
		counts[key] += int32(n) // which finds the key once
	} else if now := counts[key] + int32(n); now > 0 {
		counts[key] = now
	} else {
		delete(counts, key)
		at.Ended = true
	}
	if at.Ended || len(counts) > were {
		l.changes = append(l.changes, at)
	}
	return counts
}

// reads reports whether an input is read as a whole, or its entry of a key.
func (l *lookups) reads(input int, key string) bool {
	return l.others[Lookup{Input: input, Whole: true}] > 0 || (*l.of(input))[key] > 0
}

// count adds or takes away reads.
func (l *lookups) count(wholes []wholeRead, entries []entryRead, n int) {
	l.entriesOf(entries, n)
	for i := range wholes {
		if in, ok := wholes[i].slot.input(); ok {
			l.add(Lookup{Input: in, Whole: true}, n)
		}
	}
}

// entriesOf adds or takes away reads of entries.
func (l *lookups) entriesOf(list []entryRead, n int) {
	for i := range list {
		if in, ok := list[i].slot.input(); ok {
			l.add(Lookup{Input: in, Key: list[i].key}, n)
		}
	}
}

// all returns what is read.
func (l *lookups) all() iter.Seq[Lookup] {
	return func(yield func(Lookup) bool) {
		for at := range l.others {
			if !yield(at) {
				return
			}
		}
		for input, entries := range l.entries {
			for key := range entries {
				if !yield(Lookup{Input: input, Key: key}) {
					return
				}
			}
		}
	}
}

// end notes that what others have read is read no longer.
func (l *lookups) end(others *lookups) {
	for at := range others.all() {
		at.Ended = true
		l.changes = append(l.changes, at)
	}
}

// Lookup is something that evaluations of a key began or ceased to read: an
// entry of an input that is a map, the whole of an input, or an object that
// an action named outright.
type Lookup struct {
	Input int
	Key   string
	Whole bool
	// Target says that Input counts the policy's targets, and Key is made by
	// TargetKey.
	Target bool
	// Ended says that it is no longer read.
	Ended bool
}

// Lookups returns the entries that the key began or ceased to read since the
// last call, in order.
func (m *Memo) Lookups() []Lookup {
	changes := m.lookups.changes
	m.lookups.changes = nil
	return changes
}

// TargetKey names an object within its kind.
func TargetKey(namespace, name string) string { return namespace + "\x00" + name }

// TargetID returns the identity of the object of a kind that a TargetKey names.
func TargetID(gvk schema.GVK, key string) world.ID {
	namespace, name, _ := strings.Cut(key, "\x00")
	id, _ := world.Identify(gvk, namespace, name) // as the key was made
	return id
}
