package value

// manyKeys is from how many names on an object may get a table of them.
const manyKeys = 64

// search finds a name among many. Collections with a key are looked up once for each
// item of another, which mostly is in the same order: so the next name is looked at
// first.
func (s *shape) search(key string) int {
	if next := int(s.next.Load()); next < len(s.keys) && s.keys[next] == key {
		s.next.Store(int32(next + 1))
		return next
	}
	at := s.anywhere(key)
	if at >= 0 {
		s.next.Store(int32(at + 1))
	}
	return at
}

// anywhere is search without an expectation. When there have been so many searches that
// they have cost about as much as a table, one is made.
func (s *shape) anywhere(key string) int {
	table := s.table.Load()
	if table == nil {
		if int(s.asked.Add(1)) < len(s.keys)/2 {
			return among(s.keys, key)
		}
		made := make(map[string]int32, len(s.keys))
		for i, key := range s.keys {
			made[key] = int32(i)
		}
		table = &made
		s.table.Store(table)
	}
	if i, ok := (*table)[key]; ok {
		return int(i)
	}
	return -1
}
