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
	of map[eval.Key]map[string]value.Value
	// bytes is how many they have.
	bytes int
}

func newMemories() *memories { return &memories{of: map[eval.Key]map[string]value.Value{}} }

// recall returns what a key remembers, by name; nil is nothing.
func (m *memories) recall(key eval.Key) func(name string) value.Value {
	return func(name string) value.Value { return m.values(key)[name] }
}

// remember lets a key remember values; what is null is forgotten. It returns how many
// values there are more.
func (m *memories) remember(key eval.Key, news map[string]value.Value) (more int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := maps.Clone(m.of[key])
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
	more = len(values) - len(m.of[key])
	m.set(key, values)
	return more
}

// set gives a key other values, which are not changed any more; nil is none.
func (m *memories) set(key eval.Key, values map[string]value.Value) {
	m.bytes += rememberedBytes(values, nil) - rememberedBytes(m.of[key], nil)
	if values == nil {
		delete(m.of, key)
	} else {
		m.of[key] = values
	}
}

// values returns all that a key remembers. They must not be changed.
func (m *memories) values(key eval.Key) map[string]value.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[key]
}

// keys returns the keys that have remembered something, in order.
func (m *memories) keys() []eval.Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Keys(m.of), watch.CompareKeys)
}

// size returns how many bytes a key, and all keys, remember but for some names of that
// key.
func (m *memories) size(key eval.Key) func(except map[string]value.Value) (own, all int) {
	return func(except map[string]value.Value) (own, all int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		own = rememberedBytes(m.of[key], except)
		return own, m.bytes - rememberedBytes(m.of[key], nil) + own
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
	for key, values := range old.of {
		m.set(key, values)
	}
}

// move takes over what a key of another revision remembers, if it has remembered
// anything, so that it is known in one place.
func (m *memories) move(old *memories, key eval.Key) {
	old.mu.Lock()
	defer old.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if values := old.of[key]; values != nil {
		old.set(key, nil)
		m.set(key, values)
	}
}

// drop forgets what some keys remember. It returns how many values there are less.
func (m *memories) drop(given func(eval.Key) bool) (less int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, values := range m.of {
		if given(key) {
			less += len(values)
			m.set(key, nil)
		}
	}
	return less
}

// rememberedBytes is what some values take in memory, but for those of some names.
func rememberedBytes(memory, except map[string]value.Value) (sum int) {
	for name, v := range memory {
		if _, ok := except[name]; !ok {
			sum += eval.RememberedBytes(name, v)
		}
	}
	return sum
}
