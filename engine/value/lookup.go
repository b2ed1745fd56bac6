package value

import "hash/maphash"

// manyKeys is from how many names on an object may get a hash table of them.
const manyKeys = 64

// search finds a name among many. When there have been some searches, a hash table is
// made: collections with a key are looked up once for each item of another.
func (s *shape) search(key string) int {
	table := s.table.Load()
	if table == nil {
		if int(s.asked.Add(1)) < len(s.keys)/8 {
			return among(s.keys, key)
		}
		made := s.hashed()
		table = &made
		s.table.Store(table)
	}
	mask := uint64(len(*table) - 1)
	for at := maphash.String(textSeed, key) & mask; ; at = (at + 1) & mask {
		i := (*table)[at]
		if i == 0 {
			return -1
		}
		if s.keys[i-1] == key {
			return int(i) - 1
		}
	}
}

// hashed returns the table: one more than the place of each name, by its hash; 0 is
// free.
func (s *shape) hashed() []int32 {
	size := uint64(manyKeys)
	for size < 2*uint64(len(s.keys)) {
		size *= 2
	}
	table := make([]int32, size)
	for i, key := range s.keys {
		at := maphash.String(textSeed, key) & (size - 1)
		for table[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		table[at] = int32(i) + 1
	}
	return table
}
