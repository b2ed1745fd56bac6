package reconcile

import (
	"maps"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/watch"
)

// memories are what the keys of a controller remember. They outlive their objects, and
// are safe for concurrent use.
type memories struct {
	mu sync.Mutex
	of map[eval.Key]memory
	// bytes is how many they have.
	bytes int
}

// memory is what a key remembers, by name, and how many bytes it has.
type memory struct {
	values map[string]value.Value
	bytes  int
}

func newMemories() *memories { return &memories{of: map[eval.Key]memory{}} }

// recall returns what a key remembers, by name; nil is nothing.
func (m *memories) recall(key eval.Key) func(name string) value.Value {
	return func(name string) value.Value { return m.values(key)[name] }
}

// remember lets a key remember values; what is null is forgotten. It returns how many
// values there are more.
func (m *memories) remember(key eval.Key, news map[string]value.Value) (more int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.of[key].values
	values := maps.Clone(before)
	if values == nil {
		values = map[string]value.Value{}
	}
	for name, v := range news {
		if v == nil || value.IsNull(v) {
			delete(values, name)
		} else {
			values[name] = v
		}
	}
	more = len(values) - len(before)
	m.set(key, values)
	return more
}

// set gives a key other values, which are not changed any more; nil is none.
func (m *memories) set(key eval.Key, values map[string]value.Value) {
	now := memory{values, rememberedBytes(values)}
	m.bytes += now.bytes - m.of[key].bytes
	if values == nil {
		delete(m.of, key)
	} else {
		m.of[key] = now
	}
}

// values returns all that a key remembers. They must not be changed.
func (m *memories) values(key eval.Key) map[string]value.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[key].values
}

// keys returns the keys that have remembered something, in order.
func (m *memories) keys() []eval.Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Keys(m.of), watch.CompareKeys)
}

// size returns how many bytes a key, and all keys, remember, and how many of those of that
// key are under a name.
func (m *memories) size(key eval.Key) func(name string) (own, all, named int) {
	return func(name string) (own, all, named int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		of := m.of[key]
		return of.bytes, m.bytes, eval.RememberedBytes(name, of.values[name])
	}
}

// total returns how many bytes all keys remember.
func (m *memories) total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

// copy takes over what the keys of another revision remember. Who calls copy or move holds
// the locks of both revisions, so that no other does so the other way round.
func (m *memories) copy(old *memories) {
	old.mu.Lock()
	defer old.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, of := range old.of {
		m.set(key, of.values)
	}
}

// move takes over what a key of another revision remembers, if it has remembered
// anything, so that it is known in one place.
func (m *memories) move(old *memories, key eval.Key) {
	old.mu.Lock()
	defer old.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if values := old.of[key].values; values != nil {
		old.set(key, nil)
		m.set(key, values)
	}
}

// forget forgets what a key remembers. It returns how many values that were.
func (m *memories) forget(key eval.Key) (values int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values = len(m.of[key].values)
	m.set(key, nil)
	return values
}

// drop forgets what some keys remember. It returns how many values there are less.
func (m *memories) drop(given func(eval.Key) bool) (less int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, of := range m.of {
		if given(key) {
			less += len(of.values)
			m.set(key, nil)
		}
	}
	return less
}

// rememberedBytes is what some values take in memory.
func rememberedBytes(values map[string]value.Value) (sum int) {
	for name, v := range values {
		sum += eval.RememberedBytes(name, v)
	}
	return sum
}
